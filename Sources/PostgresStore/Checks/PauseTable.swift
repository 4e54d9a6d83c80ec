package import Base
package import RideCore

/// The rows of `ridepulse.pauses`.
package enum PauseTable {
  private static let columns = """
    kind, name, \(SQLTime.micros("until")), \(SQLTime.micros("since")), paused_by, reason
    """

  private static let current = Statement(
    name: "pauses",
    sql: "select \(columns) from ridepulse.pauses where until > now() order by kind, name")

  private static let add = Statement(
    name: "",
    sql: """
      select \(SQLTime.micros("until"))
      from ridepulse.pause($1, $2, $3::bigint * interval '1 microsecond', $4) p (until)
      """)

  private static let remove = Statement(
    name: "",
    sql: """
      select $1::text, $2::text, \(SQLTime.micros("until")), \(SQLTime.micros("since")), paused_by, reason, rides
      from ridepulse.resume($1::text, $2::text)
      """)

  /// Returns the pauses that have not ended.
  package static func read(_ session: PostgresSession) async throws(PostgresError) -> Pauses {
    pauses(try await session.run([Call(current)], timeout: .seconds(5))[0])
  }

  /// Pauses something, or changes its pause; returns when that ends.
  package static func pause(
    _ kind: Pause.Kind, _ name: String, for length: Duration, _ reason: String?,
    _ session: PostgresSession
  ) async throws(PostgresError) -> Timestamp {
    let values = [kind.rawValue, name, "\(length.microseconds)", reason]
    return try await session.run([Call(add, values)])[0].value(0, 0)
  }

  /// Ends a pause.
  ///
  /// - Returns: The pause, and the number of rides that are due because of its end; nil if there was
  ///   none.
  package static func resume(
    _ kind: Pause.Kind, _ name: String, _ session: PostgresSession
  ) async throws(PostgresError) -> (pause: Pause, rides: Int64)? {
    // It reads the memo of each live ride.
    let rows = try await session.run(
      [Call(remove, [kind.rawValue, name])], timeout: .seconds(60))[0]
    guard let pause = pauses(rows).all.first else { return nil }
    return (pause, rows.int64(0, 6) ?? 0)
  }

  private static func pauses(_ rows: QueryResult) -> Pauses {
    Pauses(
      (0..<rows.rowCount).compactMap { row in
        guard let kind = rows.string(row, 0).flatMap(Pause.Kind.init(rawValue:)),
          let name = rows.string(row, 1), let until = rows.int64(row, 2),
          let since = rows.int64(row, 3)
        else { return nil }
        return Pause(
          kind, name, until: Timestamp(microseconds: until),
          since: Timestamp(microseconds: since), author: rows.string(row, 4) ?? "",
          reason: rows.string(row, 5))
      })
  }
}
