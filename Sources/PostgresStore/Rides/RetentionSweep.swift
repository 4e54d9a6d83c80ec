internal import RideCore

/// Deletes old rows of rides, phones and other tables, as `ridepulse.retention` defines old.
package struct RetentionSweep: Sendable {
  private let session: PostgresSession

  /// Uses an open session, which it does not close.
  package init(session: PostgresSession) {
    self.session = session
  }

  private static let tables = Statement(
    name: "sweep_tables", sql: "select name from ridepulse.sweeps order by place")

  private static let sweep = Statement(
    name: "sweep", sql: "select deleted, is_behind from ridepulse.sweep($1)")

  /// How long a slice may take on a busy server.
  private static let limit: Duration = .seconds(60)

  /// Deletes what is due within this hour; returns the number of deleted rows by table, without
  /// tables of which none was deleted.
  ///
  /// Each slice of a table is a transaction of its own, which waits for no row. A slice that
  /// another session sweeps, or whose table is locked, is left for the next hour.
  ///
  /// - Throws: `PostgresError`. `refusesRights` is true if the role lacks the right.
  package func run() async throws(PostgresError) -> [(table: String, rows: Int64)] {
    let names = try await session.run([Call(Self.tables)])[0]
    var deleted: [(table: String, rows: Int64)] = []
    for row in 0..<names.rowCount {
      let table: String = try names.value(row, 0)
      let rows = try await sweep(table)
      if rows > 0 { deleted.append((table, rows)) }
    }
    return deleted
  }

  private func sweep(_ table: String) async throws(PostgresError) -> Int64 {
    var deleted: Int64 = 0
    while !Task.isCancelled {
      do {
        let slice = try await session.run([Call(Self.sweep, [table])], timeout: Self.limit)[0]
        deleted += slice.int64(0, 0) ?? 0
        if slice.rowCount == 0 || slice.bool(0, 1) != true { break }
      } catch  where error.failure.cause == .conflict {
        break
      }
    }
    return deleted
  }
}
