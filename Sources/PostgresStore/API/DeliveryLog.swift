package import Base
package import RideCore

/// A page of verdicts that a follower asks for.
package struct DeliveryQuery: Hashable, Sendable {
  package enum Start: Hashable, Sendable {
    case oldest
    /// A cursor that an earlier page returned.
    case after(String)
    case since(Timestamp)
  }

  package var start: Start
  package var limit: Int

  /// The most verdicts that one page has over HTTP.
  package static let largestPage = 1000

  package init(start: Start, limit: Int) {
    (self.start, self.limit) = (start, limit)
  }
}

/// A verdict, with the columns of the view `ridepulse.deliveries`.
package struct Delivery: Hashable, Sendable {
  package var rideID: RideID
  package var event, rule, app, pushType, status: String
  package var reason, id, collapseID, tokenSuffix, uniqueID: String?
  package var attempts: Int64
  package var createdAt, finishedAt, seenAt: Timestamp?
}

package struct DeliveryPage: Hashable, Sendable {
  package var deliveries: [Delivery]
  /// The cursor behind the page; nil if there is no verdict yet.
  package var next: String?
}

/// Reads verdicts in the order of their commits.
package struct DeliveryLog: Sendable {
  private let session: PostgresSession

  /// Uses an open session, which it does not close.
  package init(session: PostgresSession) {
    self.session = session
  }

  private struct Columns: Sendable {
    let next, ride, event, rule, app, pushType, status, reason, id, collapseID,
      tokenSuffix, uniqueID: ResultColumn<String>
    let attempts: ResultColumn<Int64>
    let createdAt, finishedAt, seenAt: ResultColumn<Timestamp>
    let sql: String

    init() {
      var list = SelectList()
      next = list.text("next")
      ride = list.text("ride_id")
      event = list.text("event")
      rule = list.text("rule")
      app = list.text("app")
      pushType = list.text("push_type")
      status = list.text("status")
      reason = list.text("reason")
      attempts = list.integer("attempts")
      id = list.text("apns_id")
      collapseID = list.text("collapse_id")
      createdAt = list.time("created_at")
      finishedAt = list.time("finished_at")
      tokenSuffix = list.text("token_suffix")
      seenAt = list.time("seen_at")
      uniqueID = list.text("apns_unique_id")
      sql = list.sql
    }
  }

  private static let columns = Columns()

  /// $1 cursor, $2 number of rows.
  private static let after = Statement(
    name: "deliveries_after",
    sql: "select \(columns.sql) from ridepulse.deliveries_after($1, $2::integer)")

  /// $1 microseconds since 1970.
  private static let cursor = Statement(
    name: "deliveries_cursor",
    sql: "select ridepulse.deliveries_cursor(\(SQLTime.timestamp("$1::bigint")))")

  package func page(_ query: DeliveryQuery) async throws(PostgresError) -> DeliveryPage {
    let start: String?
    switch query.start {
    case .oldest: start = nil
    case .after(let cursor): start = cursor
    case .since(let time):
      start = try await session.run([Call(Self.cursor, [String(time.microseconds)])])[0]
        .string(0, 0)
    }
    let rows = try await session.run([Call(Self.after, [start, String(query.limit)])])[0]
    let last = rows.rowCount - 1
    return DeliveryPage(
      deliveries: (0..<rows.rowCount).map { Self.delivery(rows, $0) },
      next: last < 0 ? start : rows[last, Self.columns.next])
  }

  private static func delivery(_ rows: QueryResult, _ row: Int) -> Delivery {
    Delivery(
      rideID: RideID(rows[row, columns.ride] ?? ""), event: rows[row, columns.event] ?? "",
      rule: rows[row, columns.rule] ?? "", app: rows[row, columns.app] ?? "",
      pushType: rows[row, columns.pushType] ?? "", status: rows[row, columns.status] ?? "",
      reason: rows[row, columns.reason], id: rows[row, columns.id],
      collapseID: rows[row, columns.collapseID], tokenSuffix: rows[row, columns.tokenSuffix],
      uniqueID: rows[row, columns.uniqueID],
      attempts: rows[row, columns.attempts] ?? 0, createdAt: rows[row, columns.createdAt],
      finishedAt: rows[row, columns.finishedAt], seenAt: rows[row, columns.seenAt])
  }
}
