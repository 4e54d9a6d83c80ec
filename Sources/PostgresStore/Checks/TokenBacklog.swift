/// The outcomes that wait to be applied to their tokens, and the session that blocks them.
package struct TokenBacklog: Hashable, Sendable {
  /// The number of outcomes, at most `countLimit`.
  package var count: Int64
  /// How long the oldest has waited; nil if there is none.
  package var age: Duration?
  /// The session that has the row or table of the oldest outcomes locked, if this role can see it.
  package var blocker: LockHolder?

  /// Outcomes are not counted beyond this number.
  package static let countLimit = 10_000
}

/// A session or prepared transaction that holds a lock.
package struct LockHolder: Hashable, Sendable {
  /// The process ID; nil for a prepared transaction.
  package var processID: Int32?
  /// `application_name`, or the name of the prepared transaction.
  package var name: String
  /// How long its transaction has been open.
  package var age: Duration?

  package init(processID: Int32?, name: String, age: Duration? = nil) {
    (self.processID, self.name, self.age) = (processID, name, age)
  }
}

extension TokenBacklog {
  /// Count and age of the waiting outcomes, in two columns.
  static let size = Statement(
    name: "outcomes_waiting",
    sql: """
      select (select count(*) from (
          select from ridepulse.token_outcomes limit \(countLimit)) waiting),
        (select \(SQLTime.micros(interval: "clock_timestamp() - created_at"))
         from ridepulse.token_outcomes order by id limit 1)
      """)

  /// A row lock is not in `pg_locks`: the row's own `xmax` names the transaction.
  private static let blockers = Statement(
    name: "outcomes_blocker",
    sql: """
      with oldest as (
        select kind, token_id from ridepulse.token_outcomes order by id limit 100
      ), locked as (
        select t.xmax from oldest o join ridepulse.devices t on t.id = o.token_id
        where o.kind = 'phone'
        union all
        select t.xmax from oldest o join ridepulse.live_activities t on t.id = o.token_id
        where o.kind = 'activity'
        union all
        select t.xmax from oldest o join ridepulse.push_to_start_tokens t on t.id = o.token_id
        where o.kind = 'start'
        union all
        select t.xmax from oldest o join ridepulse.channels t on t.id = o.token_id
        where o.kind = 'channel'
      )
      select pid, name, \(SQLTime.micros(interval: "now() - since"))
      from (
        select a.pid, a.application_name as name, a.xact_start as since
        from pg_stat_activity a
        where a.backend_xid in (select xmax from locked) or a.pid in (
          select l.pid from pg_locks l
          where l.granted and l.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock',
              'AccessExclusiveLock')
            and l.relation in (
              select ('ridepulse.' || case o.kind when 'phone' then 'devices'
                when 'activity' then 'live_activities' when 'start' then 'push_to_start_tokens'
                else 'channels' end)::regclass
              from oldest o))
        union all
        select null, p.gid, p.prepared from pg_prepared_xacts p
        where p.transaction in (select xmax from locked)
      ) holders
      where pid is distinct from pg_backend_pid()
      order by since limit 1
      """)

  /// Reads the backlog; looks for the blocker only if outcomes are waiting.
  package static func read(
    _ session: PostgresSession
  ) async throws(PostgresError) -> TokenBacklog {
    let row = try await session.run([Call(size)])[0]
    var backlog = TokenBacklog(
      count: try row.value(0, 0), age: row.int64(0, 1).map { .microseconds(max(0, $0)) })
    if backlog.count == 0 { return backlog }
    let found = try await session.run([Call(blockers)])[0]
    if let name = found.string(0, 1) {
      backlog.blocker = LockHolder(
        processID: found.int64(0, 0).flatMap { Int32(exactly: $0) }, name: name,
        age: found.int64(0, 2).map { .microseconds($0) })
    }
    return backlog
  }
}
