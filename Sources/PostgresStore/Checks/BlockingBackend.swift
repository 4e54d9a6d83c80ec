/// The holder of the oldest snapshot, which keeps PostgreSQL from removing dead rows.
package struct BlockingBackend: Hashable, Sendable {
  /// The kinds of holders.
  package enum Kind: String, Hashable, Sendable {
    /// A session, in most cases one that is idle in a transaction.
    case session
    /// A prepared transaction of a two-phase commit that is still open.
    case prepared
    /// A replication slot, or a standby behind it.
    case slot
  }

  package var kind: Kind
  /// The process ID; nil if there is none.
  package var processID: Int32?
  /// `application_name`, or the name of the prepared transaction or slot.
  package var name: String
  /// How long its transaction has been open; nil for a slot, or if this role cannot see it.
  package var age: Duration?
  /// The number of transactions begun since.
  package var transactions: Int64
  /// The oldest transaction ID that it needs: the same while it prevents the removal.
  package var xid: String?
}

extension BlockingBackend {
  private static let oldest = Statement(
    name: "oldest_transaction",
    sql: """
      select kind, pid, name, \(SQLTime.micros(interval: "now() - since")), transactions, xid
      from (
        select 'session' as kind, pid, application_name as name, xact_start as since,
          greatest(age(backend_xmin), age(backend_xid)) as transactions,
          case when age(backend_xid) >= coalesce(age(backend_xmin), 0) then backend_xid
            else backend_xmin end::text as xid,
          age(backend_xid) >= coalesce(age(backend_xmin), 0) as is_own
        from pg_stat_activity
        where (datname = current_database() or datname is null) and pid <> pg_backend_pid()
        union all
        select 'prepared', null, gid, prepared, age(transaction), transaction::text, true
        from pg_prepared_xacts where database = current_database()
        union all
        select 'slot', active_pid, slot_name, null, age(xmin), xmin::text, false
        from pg_replication_slots
      ) holders
      where transactions is not null
      -- While a transaction writes, every new snapshot needs its ID as well.
      order by transactions desc, is_own desc nulls last, since limit 1
      """)

  /// Returns the oldest holder; nil if there is none. This session itself is not counted.
  package static func oldest(_ session: PostgresSession) async throws(PostgresError)
    -> BlockingBackend?
  {
    let rows = try await session.run([Call(oldest)])[0]
    guard let kind = rows.string(0, 0).flatMap(Kind.init(rawValue:)) else { return nil }
    return BlockingBackend(
      kind: kind, processID: rows.int64(0, 1).flatMap { Int32(exactly: $0) },
      name: rows.string(0, 2) ?? "", age: rows.int64(0, 3).map { .microseconds($0) },
      transactions: try rows.value(0, 4), xid: rows.string(0, 5))
  }
}
