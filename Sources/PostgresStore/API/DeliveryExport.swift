package import Base

/// Reads all verdicts of past days in the order of their commits.
package struct DeliveryExport: Sendable {
  private let session: PostgresSession

  /// Uses an open session, which it does not close.
  package init(session: PostgresSession) {
    self.session = session
  }

  /// The most by which a verdict's time differs from the order of commits: no settlement takes longer.
  package static let settling: Duration = .seconds(300)
  /// The number of verdicts that are in memory at a time.
  private static let page = 5000
  /// How long a transaction that writes the ledger may hold back what was committed.
  private static let patience: Duration = .seconds(60)

  /// A transaction that writes to the ledger, for longer than `patience`, holds verdicts back.
  package struct Blocked: Error {}

  private static let time = Statement(name: "", sql: "select \(SQLTime.now)")

  /// Whether the ledger has the day of a time, or an earlier one: $1 microseconds since 1970.
  private static let reaches = Statement(
    name: "",
    sql: """
      select exists (
        select from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'ridepulse.ledger'::regclass and c.relname ~ '^ledger_[0-9]{8}$'
          and c.relname <= 'ledger_'
            || to_char((\(SQLTime.timestamp("$1::bigint"))) at time zone 'UTC', 'YYYYMMDD'))
      """)

  /// Whether no transaction holds verdicts back.
  private static let caughtUp = Statement(
    name: "", sql: "select horizon = newest from ridepulse.verdict_horizon()")

  /// Returns the database's time.
  package func now() async throws(PostgresError) -> Timestamp {
    Timestamp(microseconds: try await session.run([Call(Self.time)])[0].value(0, 0))
  }

  /// Returns whether the ledger has the day of a time, or an earlier one; else retention may have
  /// deleted the day.
  package func reaches(_ time: Timestamp) async throws(PostgresError) -> Bool {
    try await session.run([Call(Self.reaches, [String(time.microseconds)])])[0].value(0, 0)
  }

  /// Reads the verdicts from `start` to before `end`, and passes them on in pages.
  ///
  /// A verdict that a repeated push has changed is among those of its last change only.
  ///
  /// - Parameters:
  ///   - end: a time that is past by `settling`.
  ///   - body: Receives verdicts whose times rise, except for those that differ by less than
  ///     `settling`.
  /// - Throws: `PostgresError`, `Blocked`, or what `body` throws.
  package func read(
    from start: Timestamp, to end: Timestamp, _ body: ([Delivery]) throws -> Void
  ) async throws {
    let log = DeliveryLog(session: session)
    let limit = end + Self.settling
    var query = DeliveryQuery(start: .since(start), limit: Self.page)
    var since = ContinuousClock.now
    while true {
      let isCaughtUp = try await session.run([Call(Self.caughtUp)])[0].bool(0, 0) ?? false
      let page = try await log.page(query, timeout: .seconds(600))
      try body(
        page.deliveries.filter { delivery in
          delivery.finishedAt.map { $0 >= start && $0 < end } ?? false
        })
      if page.deliveries.contains(where: { $0.finishedAt.map { $0 >= limit } ?? false }) { return }
      if !page.deliveries.isEmpty {
        since = .now
      } else if isCaughtUp {
        return
      } else if ContinuousClock.now - since > Self.patience {
        throw Blocked()
      } else {
        try await Task.sleep(for: .milliseconds(200))
      }
      if let next = page.next { query.start = .after(next) }
    }
  }
}
