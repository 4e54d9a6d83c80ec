import PostgresStore
import RideCore
import Synchronization

/// What the database needs now and then: a ledger that is cut into days and loses the old ones.
///
/// Every node does it; that two don't do it at once is the database's concern.
final class Upkeep: Sendable {
  private let conninfo: String
  private let log: Log
  private let mayNot = Mutex(false)

  static let interval: Duration = .seconds(3600)

  init(conninfo: String, log: Log) {
    self.conninfo = conninfo
    self.log = log
  }

  /// Now, and each hour until the task is cancelled.
  func run() async {
    repeat {
      await tend()
      try? await Task.sleep(for: Self.interval)
    } while !Task.isCancelled
  }

  /// Once. Whatever comes of it is said; nothing that is sent depends on it.
  func tend() async {
    do {
      // A session for the moment: claims and settlements don't stand behind it.
      let deeds = try await Database.with(conninfo: conninfo, name: "upkeep") { session in
        try await LedgerKeeper(session: session).tend()
      }
      if deeds.isEmpty { return }
      log(
        .info, "The ledger's days were tended",
        ["did": deeds.map(\.description).joined(separator: ", ")])
    } catch let error as PostgresError where error.refusesRights {
      note(error)
    } catch {
      log(.warning, "Can't tend the ledger's days; trying again in an hour", ["error": "\(error)"])
    }
  }

  /// A right that is missing is said once: somebody may want it so.
  private func note(_ error: PostgresError) {
    let isKnown = mayNot.withLock { known in
      defer { known = true }
      return known
    }
    if isKnown { return }
    log(
      .warning,
      "This role may not cut the ledger into days, and nothing old is dropped: grant it execute on ridepulse.tend_ledger",
      ["error": "\(error)"])
  }
}
