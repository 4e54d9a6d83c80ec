/// The partitions of the ledger, as far as days ahead need them.
package struct LedgerDays: Hashable, Sendable {
  /// The days after today that have a partition, up to the first that has none.
  package var ahead: Int64 = 1
  /// The size of the partition for all other days, in bytes.
  package var defaultBytes: Int64 = 0

  package init(ahead: Int64 = 1, defaultBytes: Int64 = 0) {
    (self.ahead, self.defaultBytes) = (ahead, defaultBytes)
  }

  static let statement = Statement(
    name: "ledger_days",
    sql: """
      select coalesce(min(n) filter (where not exists (
          select from pg_inherits i join pg_class c on c.oid = i.inhrelid
          where i.inhparent = 'ridepulse.ledger'::regclass and c.relname = 'ledger_'
            || to_char((now() at time zone 'UTC')::date + n, 'YYYYMMDD'))), 8) - 1,
        pg_relation_size('ridepulse.ledger_default')
      from generate_series(1, 7) n
      """)

  init(_ rows: QueryResult) throws(PostgresError) {
    ahead = try rows.value(0, 0)
    defaultBytes = try rows.value(0, 1)
  }

  /// Reads the catalog; the time limit is two seconds.
  package static func read(_ session: PostgresSession) async throws -> LedgerDays {
    try LedgerDays(try await session.run([Call(statement)], timeout: .seconds(2))[0])
  }
}
