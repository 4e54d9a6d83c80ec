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
  /// What it is: `push`, `post`, `emit` or `escalation`.
  package var kind: String
  /// The person whom it was for; nil for none, and for a raw push.
  package var ownerID: String?
  /// The phone's system, `ios` or `android`; nil without a phone, or once its row is deleted.
  package var platform: String?
  package var reasonCode: String?
  package var rideID: RideID
  package var event, rule, app, status: String
  package var pushType, reason, id, collapseID, tokenSuffix, uniqueID: String?
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

  /// $1 cursor, $2 number of rows.
  private static let after = Statement(
    name: "deliveries_after",
    sql: "select \(Verdict.selected) from ridepulse.deliveries_after($1, $2::integer)")

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
    let verdicts = try Verdict.all(rows)
    return DeliveryPage(
      deliveries: verdicts.map(\.delivery), next: verdicts.last.map(\.next) ?? start)
  }
}

/// A verdict with the cursor behind it.
private struct Verdict: SelectedRecord {
  let next: String
  let delivery: Delivery

  init(_ columns: inout some RecordColumns) throws(PostgresError) {
    next = try columns.next("next")
    delivery = try Delivery(&columns)
  }
}

extension Delivery: SelectedRecord {
  init(_ columns: inout some RecordColumns) throws(PostgresError) {
    kind = try columns.next("kind")
    ownerID = try columns.next("owner_id")
    platform = try columns.next("platform")
    reasonCode = try columns.next("reason_code")
    rideID = try columns.next("ride_id")
    event = try columns.next("event")
    rule = try columns.next("rule")
    app = try columns.next("app")
    pushType = try columns.next("push_type")
    status = try columns.next("status")
    reason = try columns.next("reason")
    attempts = try columns.next("attempts")
    id = try columns.next("apns_id")
    collapseID = try columns.next("collapse_id")
    createdAt = try columns.next("created_at")
    finishedAt = try columns.next("finished_at")
    tokenSuffix = try columns.next("token_suffix")
    seenAt = try columns.next("seen_at")
    uniqueID = try columns.next("apns_unique_id")
  }
}
