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
  package let finishedAt: Timestamp?
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

  /// - Parameter timeout: the limit of each statement.
  package func page(
    _ query: DeliveryQuery, timeout: Duration = .seconds(10)
  ) async throws(PostgresError) -> DeliveryPage {
    let start: String?
    switch query.start {
    case .oldest: start = nil
    case .after(let cursor): start = cursor
    case .since(let time):
      start = try await session.run(
        [Call(Self.cursor, [String(time.microseconds)])], timeout: timeout)[0].string(0, 0)
    }
    let rows = try await session.run(
      [Call(Self.after, [start, String(query.limit)])], timeout: timeout)[0]
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
  private enum Kind {
    /// A text that is never NULL.
    case word
    case text, number, time
  }

  /// The columns of the view, in its order.
  private static let columns: [(name: String, kind: Kind)] = [
    ("kind", .word), ("owner_id", .text), ("platform", .text), ("reason_code", .text),
    ("ride_id", .word), ("event", .word), ("rule", .word), ("app", .word), ("push_type", .text),
    ("status", .word), ("reason", .text), ("attempts", .number), ("apns_id", .text),
    ("collapse_id", .text), ("created_at", .time), ("finished_at", .time),
    ("token_suffix", .text), ("seen_at", .time), ("apns_unique_id", .text),
  ]

  /// The members of the JSON, in the order of the view.
  package static var names: [String] { columns.map(\.name) }

  init(_ columns: inout some RecordColumns) throws(PostgresError) {
    var members: [String: JSONValue] = [:]
    var (ride, finishedAt): (String, Timestamp?) = ("", nil)
    for (name, kind) in Self.columns {
      switch kind {
      case .word:
        let text: String = try columns.next(name)
        members[name] = .string(text)
        if name == "ride_id" { ride = text }
      case .text:
        let text: String? = try columns.next(name)
        members[name] = text.map { .string($0) } ?? .null
      case .number: members[name] = .integer(try columns.next(name))
      case .time:
        let time: Timestamp? = try columns.next(name)
        members[name] = time.map { .string(CivilTime.exact($0)) } ?? .null
        if name == "finished_at" { finishedAt = time }
      }
    }
    rideID = RideID(ride)
    self.finishedAt = finishedAt
    json = .object(members)
  }
}
