/// Finds the sessions that keep a migration from its locks.
enum MigrationLocks {
  /// The most sessions that are named.
  private static let limit = 3

  /// A session that has been in a transaction for long comes first: those of the engine have one for
  /// milliseconds. A role that may not see when a transaction began still sees the process IDs.
  private static let sessions = Statement(
    name: "",
    sql: """
      select a.pid, a.application_name, \(SQLTime.micros(interval: "clock_timestamp() - a.xact_start"))
      from pg_stat_activity a
      where a.pid <> pg_backend_pid() and a.pid in (
        select l.pid from pg_locks l join pg_class c on c.oid = l.relation
        where l.locktype = 'relation' and l.granted
          and l.database = (select oid from pg_database where datname = current_database())
          and c.relnamespace = to_regnamespace('ridepulse'))
      order by a.xact_start, a.pid limit \(limit)
      """)

  /// Returns the sessions that hold locks on tables of the schema now, the oldest transaction first.
  static func holders(_ session: PostgresSession) async throws(PostgresError) -> [LockHolder] {
    let rows = try await session.run([Call(sessions)])[0]
    return (0..<rows.rowCount).map { row in
      LockHolder(
        processID: rows.int64(row, 0).flatMap { Int32(exactly: $0) },
        name: rows.string(row, 1) ?? "",
        age: rows.int64(row, 2).map { .microseconds($0) })
    }
  }
}
