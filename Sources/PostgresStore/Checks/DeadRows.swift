/// The dead rows of the table that has the most, of those that each claim reads.
package struct DeadRows: Hashable, Sendable {
  package var table: String
  package var dead: Int64
  package var live: Int64
  /// How long ago it was vacuumed; nil if it never was.
  package var vacuumAge: Duration?
}

extension DeadRows {
  /// Autovacuum looks at each table once a minute.
  private static let longAge: Duration = .seconds(5 * 60)
  /// So many are too many even just after a vacuum: something prevents their removal.
  private static let many: Int64 = 1_000_000

  /// Whether they outnumber the other rows, and vacuum did not come or did not help.
  package var stay: Bool {
    guard dead >= 5000, dead >= 10 * live else { return false }
    return dead >= Self.many || vacuumAge.map { $0 >= Self.longAge } ?? true
  }

  private static let statement = Statement(
    name: "dead_rows",
    sql: """
      select relname, n_dead_tup, n_live_tup,
        \(SQLTime.micros(interval: "now() - greatest(last_vacuum, last_autovacuum)"))
      from pg_stat_user_tables
      where schemaname = 'ridepulse' and relname in ('agenda', 'events', 'rides', 'devices')
      order by n_dead_tup desc, relname limit 1
      """)

  /// Returns nil without the schema; any role may read it.
  package static func most(_ session: PostgresSession) async throws(PostgresError) -> DeadRows? {
    let rows = try await session.run([Call(statement)])[0]
    guard rows.rowCount > 0 else { return nil }
    return DeadRows(
      table: try rows.value(0, 0), dead: try rows.value(0, 1), live: try rows.value(0, 2),
      vacuumAge: rows.int64(0, 3).map { .microseconds($0) })
  }
}
