package import Base

/// That an operator holds all sending, in `ridepulse.pin`.
package struct SendingHold: Hashable, Sendable {
  package var since: Timestamp
  package var reason: String
  /// The login that holds it, if it is known.
  package var author: String?

  package init(since: Timestamp, reason: String, author: String?) {
    (self.since, self.reason, self.author) = (since, reason, author)
  }

  private static let current = Statement(
    name: "",
    sql: "select \(SQLTime.micros("held_at")), held_reason, held_by from ridepulse.pin")

  private static let hold = Statement(name: "", sql: "select ridepulse.hold($1)")

  private static let release = Statement(
    name: "",
    sql: "select \(SQLTime.micros("held_at")), held_reason, held_by from ridepulse.release()")

  /// Returns the hold; nil if sending is not held.
  package static func read(
    _ session: PostgresSession
  ) async throws(PostgresError) -> SendingHold? {
    SendingHold(try await session.run([Call(current)], timeout: .seconds(5))[0])
  }

  /// Holds all sending, and returns the hold.
  package static func begin(
    _ reason: String, _ session: PostgresSession
  ) async throws(PostgresError) -> SendingHold? {
    SendingHold(try await session.run([Call(hold, [reason]), Call(current)])[1])
  }

  /// Ends the hold and returns it; nil if sending was not held.
  package static func end(
    _ session: PostgresSession
  ) async throws(PostgresError) -> SendingHold? {
    SendingHold(try await session.run([Call(release)])[0])
  }

  private init?(_ row: QueryResult) {
    guard let since = row.int64(0, 0), let reason = row.string(0, 1) else { return nil }
    self.init(since: Timestamp(microseconds: since), reason: reason, author: row.string(0, 2))
  }
}
