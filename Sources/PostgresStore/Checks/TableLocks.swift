/// The sessions that keep others from the tables of the schema.
package enum TableLocks {
  /// How long a session must hold up others: the service's own statements take less.
  private static let patience: Duration = .seconds(1)

  /// Sessions with a lock on a table of the schema that no claim passes, and those that hold up a
  /// session and are held up by none themselves. Any role may see these, but not each name and age.
  private static let holders = Statement(
    name: "",
    sql: """
      with waiting as materialized (
        select a.pid, pg_blocking_pids(a.pid) as blockers
        from pg_stat_activity a
        where a.datname = current_database()
          and a.pid in (select pid from pg_locks where not granted)
      ), found as (
        select unnest(blockers) as pid from waiting
        union
        select l.pid from pg_locks l join pg_class c on c.oid = l.relation
        where l.granted and l.mode = 'AccessExclusiveLock'
          and l.database = (select oid from pg_database where datname = current_database())
          and c.relnamespace = 'ridepulse'::regnamespace and c.relkind in ('r', 'p')
      )
      select f.pid, coalesce(a.application_name, ''),
        \(SQLTime.micros(interval: "clock_timestamp() - a.xact_start"))
      from found f left join pg_stat_activity a on a.pid = f.pid
      where f.pid > 0 and f.pid <> pg_backend_pid() and f.pid not in (select pid from waiting)
      order by a.xact_start nulls last, f.pid limit 5
      """)

  /// Returns the sessions that hold up others for a second at least.
  package static func all(_ session: PostgresSession) async throws -> [LockHolder] {
    let first = try await read(session)
    if first.isEmpty { return [] }
    try await Task.sleep(for: patience)
    let processes = Set(first.map(\.processID))
    return try await read(session).filter { processes.contains($0.processID) }
  }

  private static func read(
    _ session: PostgresSession
  ) async throws(PostgresError) -> [LockHolder] {
    let rows = try await session.run([Call(holders)])[0]
    return (0..<rows.rowCount).map { row in
      LockHolder(
        processID: rows.int64(row, 0).flatMap { Int32(exactly: $0) },
        name: rows.string(row, 1) ?? "", age: rows.int64(row, 2).map { .microseconds($0) })
    }
  }
}
