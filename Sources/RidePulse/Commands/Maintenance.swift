import PostgresStore
import RideCore
import Synchronization

/// Maintains the database: rotates the ledger's daily partitions, and drops old ones.
///
/// Every node runs it; the database keeps two from running it at once.
final class Maintenance: Sendable {
  private let conninfo: String
  private let log: Log
  private let mayNot = Mutex(false)

  static let interval: Duration = .seconds(3600)

  init(conninfo: String, log: Log) {
    self.conninfo = conninfo
    self.log = log
  }

  /// Runs now, and each hour until the task is cancelled.
  func run() async {
    repeat {
      await rotate()
      try? await Task.sleep(for: Self.interval)
    } while !Task.isCancelled
  }

  /// Rotates the ledger's partitions once. A failure is logged; no push depends on it.
  func rotate() async {
    do {
      // A short-lived session of its own, so that claims and settlements never queue behind it.
      let actions = try await Database.with(conninfo: conninfo, name: "maintenance") { session in
        try await LedgerPartitions(session: session).rotate()
      }
      if actions.isEmpty { return }
      log(
        .info, "Ledger partitions rotated",
        ["did": actions.map(\.description).joined(separator: ", ")])
    } catch let error as PostgresError where error.refusesRights {
      record(error)
    } catch {
      log(.warning, "Ledger rotation failed, retrying in an hour", ["error": "\(error)"])
    }
  }

  /// Logs a missing right only once, since it may be intended.
  private func record(_ error: PostgresError) {
    let isKnown = mayNot.withLock { known in
      defer { known = true }
      return known
    }
    if isKnown { return }
    log(
      .warning,
      "Ledger not rotated: grant this role execute on ridepulse.rotate_ledger",
      ["error": "\(error)"])
  }
}
