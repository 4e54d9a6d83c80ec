import Base
import PostgresStore
import RideCore

/// Maintains the database: rotates the daily partitions of the ledger and of recorded passes, deletes old rows, and counts phones.
///
/// Every node does it; the database keeps two from doing it at once.
struct Maintenance: Sendable {
  let pool: SessionPool
  let log: Log

  func rotateLedger() async throws {
    let actions = try await pool.with(.short) { try await LedgerPartitions(session: $0).rotate() }
    if actions.isEmpty { return }
    log(.info, .ledgerRotated, ["actions": actions.map(\.description).joined(separator: ", ")])
  }

  func rotateRecorded() async throws {
    let actions = try await pool.with(.short) {
      try await LedgerPartitions(session: $0).rotateRecorded()
    }
    if actions.isEmpty { return }
    log(
      .info, .recordedPassesRotated, ["actions": actions.map(\.description).joined(separator: ", ")]
    )
  }

  func countPhones() async throws {
    switch try await pool.with(.long, { try await PhoneCounts.refresh($0) }) {
    case .counted, .notDue: break
    case .underway: throw PeriodicTask.Undecided()
    case .unfinished: throw UnfinishedCount()
    }
  }

  func deleteOldRows() async throws {
    let deleted = try await pool.with(.long) { try await RetentionSweep(session: $0).run() }
    if deleted.isEmpty { return }
    log(
      .info, .oldRowsDeleted,
      ["rows": deleted.map { "\($0.rows) of \($0.table)" }.joined(separator: ", ")])
  }
}

/// A count of phones failed, or reached its limit; the next one waits.
struct UnfinishedCount: Error, CustomStringConvertible {
  let description = "the last count of phones did not end within \(PhoneCounts.limit.rideText)"
}
