import Base
import PostgresStore
import RideCore

/// Finds what keeps PostgreSQL from removing dead rows, or that it does not remove them.
enum DeadRowsCheck {
  private static let name = "dead rows"
  /// Longer than any transaction of a ride service.
  private static let longAge: Duration = .seconds(5 * 60)
  /// Used if the age is unknown: this many transactions bloat indexes so that claims slow down.
  private static let manyTransactions: Int64 = 1_000_000

  static func results(_ probes: DatabaseState) -> [CheckResult] {
    let rows = probes.deadRows.value.flatMap(\.self).flatMap { $0.stay ? $0 : nil }
    return probes.holder.judged(
      name, needs: "postgres", else: "what prevents their removal can't be read"
    ) { holder in
      guard let holder else {
        return [rows.map(stay) ?? .ok(name, "nothing prevents their removal")]
      }
      let what = describe(holder)
      if isLong(holder, rows) {
        return [.warning(name, "\(what); claims slow down with that", release(holder))]
      }
      return [rows.map(stay) ?? .ok(name, what)]
    }
  }

  /// Whether it has been there for long. Without the rights of pg_read_all_stats the age of another
  /// role's transaction is hidden: then the rows that stay show it.
  private static func isLong(_ holder: BlockingBackend, _ rows: DeadRows?) -> Bool {
    holder.age.map { $0 >= longAge } ?? (rows != nil || holder.transactions >= manyTransactions)
  }

  private static func describe(_ holder: BlockingBackend) -> String {
    let age = holder.age.map { " for \($0.rideText)" } ?? ""
    let count = counted(Int(holder.transactions), "transaction")
    return "\(words(holder)) prevents their removal\(age), \(count)"
  }

  private static func stay(_ rows: DeadRows) -> CheckResult {
    let vacuumed = rows.vacuumAge.map { "was vacuumed \($0.rideText) ago" } ?? "was never vacuumed"
    let table = "\(Database.schema).\(rows.table)"
    return .warning(
      name,
      "\(table) has \(counted(Int(rows.dead), "dead row")), \(rows.live) others, and \(vacuumed): "
        + "autovacuum is off, too slow, or can't remove them; claims slow down with that",
      "as the schema's owner: psql -c 'vacuum (verbose) \(table)'; it prints how many can't be removed yet"
    )
  }

  private static func words(_ holder: BlockingBackend) -> String {
    switch holder.kind {
    case .session: "session \(holder.processID.map { "\($0)" } ?? "?") (\(holder.name))"
    case .prepared: "the prepared transaction \(holder.name)"
    case .slot: "the replication slot \(holder.name)"
    }
  }

  private static func release(_ holder: BlockingBackend) -> String {
    let name = SQLText.literal(holder.name)
    func psql(_ sql: String) -> String {
      "as its role or a superuser: psql -c \(ShellText.word(sql))"
    }
    return switch holder.kind {
    case .session:
      psql("select pg_terminate_backend(\(holder.processID.map { "\($0)" } ?? "PID"))")
        + ", once you know whose it is"
    case .prepared: psql("rollback prepared \(name)") + ", or commit it"
    case .slot: psql("select pg_drop_replication_slot(\(name))") + ", if its standby is gone"
    }
  }
}
