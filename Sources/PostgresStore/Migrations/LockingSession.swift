import RideCore

/// A session that holds a lock on a table of the schema.
package struct LockingSession: Hashable, Sendable, CustomStringConvertible {
  package let processID: Int64
  /// Its `application_name`.
  package let name: String

  /// `process 4711 (pg_dump)`
  package var description: String {
    name.isEmpty ? "process \(processID)" : "process \(processID) (\(Escape.line(name)))"
  }

  /// The most sessions that are named.
  private static let limit = 3

  /// The sessions that have been in a transaction for long come first: those of the engine have one for
  /// milliseconds. A role that may not see when a transaction began sees the process IDs.
  private static let all = Statement(
    name: "",
    sql: """
      select a.pid, a.application_name from pg_stat_activity a
      where a.pid <> pg_backend_pid() and a.pid in (
        select l.pid from pg_locks l join pg_class c on c.oid = l.relation
        where l.locktype = 'relation' and l.granted
          and l.database = (select oid from pg_database where datname = current_database())
          and c.relnamespace = to_regnamespace('ridepulse'))
      order by a.xact_start, a.pid limit \(limit)
      """)

  /// Returns the sessions that hold locks on tables of the schema now, the oldest transaction first.
  static func all(_ session: PostgresSession) async throws(PostgresError) -> [LockingSession] {
    let rows = try await session.run([Call(all)])[0]
    return (0..<rows.rowCount).map { row in
      LockingSession(processID: rows.int64(row, 0) ?? 0, name: rows.string(row, 1) ?? "")
    }
  }
}
