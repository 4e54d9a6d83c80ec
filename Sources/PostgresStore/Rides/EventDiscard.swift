package import Base

/// Ends events of a name that no node has handled.
package struct EventDiscard: Sendable {
  package let event: String
  package let since: Timestamp
  /// Exclusive.
  package let until: Timestamp

  package init(event: String, since: Timestamp, until: Timestamp) {
    (self.event, self.since, self.until) = (event, since, until)
  }

  private static let clock = Statement(name: "", sql: "select \(SQLTime.now)")

  private static let waiting = Statement(
    name: "",
    sql: """
      select count(*), count(distinct ride_id) from ridepulse.events
      where event = $1 and created_at >= \(SQLTime.timestamp("$2::bigint"))
        and created_at < \(SQLTime.timestamp("$3::bigint"))
      """)

  private static let batch = Statement(
    name: "",
    sql: """
      select ridepulse.discard($1, \(SQLTime.timestamp("$2::bigint")),
        \(SQLTime.timestamp("$3::bigint")))
      """)

  private var parameters: [String?] { [event, "\(since.microseconds)", "\(until.microseconds)"] }

  /// Returns the database's time.
  package static func now(_ session: PostgresSession) async throws(PostgresError) -> Timestamp {
    try await session.run([Call(clock)])[0].value(0, 0)
  }

  /// Returns how many of the events wait, and for how many rides.
  package func count(
    _ session: PostgresSession
  ) async throws(PostgresError) -> (events: Int64, rides: Int64) {
    let row = try await session.run([Call(Self.waiting, parameters)], timeout: .seconds(60))[0]
    return (try row.value(0, 0), try row.value(0, 1))
  }

  /// Ends some of the events; returns their number: 0 if nodes hold the rides of all that are left.
  package func discardSome(_ session: PostgresSession) async throws(PostgresError) -> Int64 {
    try await session.run([Call(Self.batch, parameters)], timeout: .seconds(60))[0].value(0, 0)
  }
}
