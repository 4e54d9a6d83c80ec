/// What a failover of the server would lose, and how often there was one.
package struct ReplicationState: Hashable, Sendable {
  /// The timeline of the server's log; nil on a standby.
  package var timeline: Int64?
  /// The number of connected standbys and other receivers of the log.
  package var standbys: Int64
  /// `synchronous_standby_names`; empty if commits wait for no standby.
  package var synchronousNames: String
  /// This session's `synchronous_commit`.
  package var commit: String

  package init(timeline: Int64?, standbys: Int64, synchronousNames: String, commit: String) {
    self.timeline = timeline
    self.standbys = standbys
    self.synchronousNames = synchronousNames
    self.commit = commit
  }

  /// Whether a commit is confirmed before a standby has it.
  package var losesCommits: Bool {
    standbys > 0 && (synchronousNames.isEmpty || ["off", "local"].contains(commit))
  }
}

extension ReplicationState {
  private static let position = Statement(
    name: "",
    sql: """
      select case when not pg_is_in_recovery() then
        ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint end
      """)
  // Without pg_monitor the rows of pg_stat_replication are visible, and their columns are null.
  private static let settings = Statement(
    name: "",
    sql: """
      select (select count(*) from pg_stat_replication),
        current_setting('synchronous_standby_names'), current_setting('synchronous_commit')
      """)

  /// Reads the state; any role may.
  package static func read(_ session: PostgresSession) async throws(PostgresError)
    -> ReplicationState
  {
    let row = try await session.run([Call(settings)])[0]
    var timeline: Int64?
    do throws(PostgresError) {
      timeline = try await session.run([Call(position)])[0].int64(0, 0)
    } catch {
      // Some services that run Postgres refuse the log's position: ridepulse.wal_timeline.
      if error.server?.sqlState != "55000" { throw error }
    }
    return ReplicationState(
      timeline: timeline, standbys: try row.value(0, 0), synchronousNames: try row.value(0, 1),
      commit: try row.value(0, 2))
  }
}
