package import Base
package import RideCore

/// The pushes of sampled traces whose receipts may come, on any node.
package struct TracedPushStore: Sendable {
  private let session: PostgresSession

  /// Uses an open session, which it does not close.
  package init(session: PostgresSession) {
    self.session = session
  }

  private static let rows = RowParameters<TracedPush>(
    after: 0,
    [
      .id("apns_id") { $0.push }, .text("trace") { $0.parent.text },
      .text("app") { $0.app.rawValue },
    ])

  /// A push that was accepted twice has the span of its last attempt.
  private static let add = Statement(
    name: "",
    sql: """
      insert into ridepulse.traced_pushes as t (apns_id, trace, app)
      select distinct on (apns_id) apns_id, trace, app from \(rows.table("p")) order by apns_id
      on conflict (apns_id) do update set trace = excluded.trace
      """)

  /// Records pushes that were accepted.
  package func add(_ pushes: [TracedPush]) async throws(PostgresError) {
    if pushes.isEmpty { return }
    _ = try await session.run([Call(Self.add, Self.rows.arrays(pushes))])
  }

  /// A receipt that came before its push was recorded has not marked it: such a push is young.
  ///
  /// $1 limit.
  private static let take = Statement(
    name: "",
    sql: """
      with seen as materialized (
        select t.apns_id from ridepulse.traced_pushes t
        where t.is_seen
          or t.created_at > now() - interval '1 minute'
            and exists (select from ridepulse.receipts r where r.apns_id = t.apns_id)
        limit $1::bigint for update skip locked
      )
      delete from ridepulse.traced_pushes t using seen s, ridepulse.receipts r
      where t.apns_id = s.apns_id and r.apns_id = s.apns_id
      returning t.apns_id, t.trace, t.app, \(SQLTime.micros("r.seen_at"))
      """)

  /// Returns pushes that were seen, with the times of their receipts, and forgets them.
  package func takeSeen(
    atMost limit: Int
  ) async throws(PostgresError) -> [(push: TracedPush, at: Timestamp)] {
    let rows = try await session.run([Call(Self.take, [String(limit)])])[0]
    var seen: [(push: TracedPush, at: Timestamp)] = []
    for row in 0..<rows.rowCount {
      guard let parent = TraceParent(try rows.value(row, 1)) else { continue }
      let push = TracedPush(try rows.value(row, 0), parent, try rows.value(row, 2))
      seen.append((push, try rows.value(row, 3)))
    }
    return seen
  }
}
