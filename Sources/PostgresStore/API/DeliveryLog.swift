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

/// A verdict in JSON, whose members are the columns of the view `ridepulse.deliveries`.
package struct Delivery: Hashable, Sendable {
  package let rideID: RideID
  package let json: JSONValue
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
    rideID = try columns.next("ride_id")
    var members: [String: JSONValue] = ["ride_id": .string(rideID.text)]
    for name in ["kind", "event", "rule", "app", "status"] {
      members[name] = .string(try columns.next(name))
    }
    members["attempts"] = .integer(try columns.next("attempts"))
    for name in [
      "owner_id", "platform", "reason_code", "push_type", "reason", "apns_id", "collapse_id",
      "token_suffix", "apns_unique_id",
    ] {
      let text: String? = try columns.next(name)
      members[name] = text.map { .string($0) } ?? .null
    }
    for name in ["created_at", "finished_at", "seen_at"] {
      let time: Timestamp? = try columns.next(name)
      members[name] = time.map { .string(CivilTime.exact($0)) } ?? .null
    }
    json = .object(members)
  }
}
