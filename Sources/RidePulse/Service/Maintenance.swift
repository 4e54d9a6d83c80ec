import Base
import PostgresStore
import RideCore
import Synchronization

/// Maintains the database: rotates the daily partitions of the ledger and of recorded passes, and deletes old rows.
///
/// Every node runs it; the database keeps two from running it at once.
final class Maintenance: Sendable {
  private let conninfo: String
  private let log: Log
  private let refused = Mutex<Set<String>>([])

  static let interval: Duration = .seconds(3600)

  init(conninfo: String, log: Log) {
    self.conninfo = conninfo
    self.log = log
  }

  /// Runs now, and each hour until the task is cancelled.
  func run() async { await repeatedly(every: Self.interval) { await maintain() } }

  /// Runs once. Failures are logged; no push depends on it.
  func maintain() async {
    await attempt(
      onFailure: "Ledger rotation failed, retrying in an hour",
      onRefusal: "Ledger not rotated", function: "rotate_ledger"
    ) {
      let actions = try await LedgerPartitions(session: $0).rotate()
      if actions.isEmpty { return }
      log(
        .info, "Ledger partitions rotated",
        ["actions": actions.map(\.description).joined(separator: ", ")])
    }
    await attempt(
      onFailure: "Rotation of recorded passes failed, retrying in an hour",
      onRefusal: "Recorded passes not rotated", function: "rotate_recorded"
    ) {
      let actions = try await LedgerPartitions(session: $0).rotateRecorded()
      if actions.isEmpty { return }
      log(
        .info, "Partitions of recorded passes rotated",
        ["actions": actions.map(\.description).joined(separator: ", ")])
    }
    await attempt(
      onFailure: "Deleting old rows failed, retrying in an hour",
      onRefusal: "Old rows not deleted", function: "sweep"
    ) {
      let deleted = try await RetentionSweep(session: $0).run()
      if deleted.isEmpty { return }
      log(
        .info, "Old rows deleted",
        ["rows": deleted.map { "\($0.rows) of \($0.table)" }.joined(separator: ", ")])
    }
  }

  /// Runs a part of the maintenance in a short-lived session of its own, so that claims and
  /// settlements never queue behind it.
  private func attempt(
    onFailure failure: StaticString, onRefusal refusal: StaticString, function: String,
    _ body: (PostgresSession) async throws -> Void
  ) async {
    do {
      try await Database.with(conninfo: conninfo, name: "maintenance", body)
    } catch let error as PostgresError where error.refusesRights {
      // Only once, since it may be intended.
      guard refused.withLock({ $0.insert(refusal.description).inserted }) else { return }
      log(
        .warning, refusal,
        [
          "error": "\(error)",
          "fix": "grant this role execute on \(Database.schema).\(function)",
        ])
    } catch {
      log(.warning, failure, ["error": "\(error)"])
    }
  }
}

/// Logs the problems that keep rows of attached tables from becoming rides.
final class WatchMonitor: Sendable {
  private let session: @Sendable () async throws -> PostgresSession
  private let log: Log
  private let state = Mutex(ReportedProblems())

  static let interval: Duration = .seconds(60)

  init(session: @escaping @Sendable () async throws -> PostgresSession, log: Log) {
    self.session = session
    self.log = log
  }

  /// Runs now, and each minute until the task is cancelled.
  func run() async { await repeatedly(every: Self.interval) { await check() } }

  /// Checks once. No push depends on it.
  func check() async {
    do {
      let problems = try await WatchProblem.all(try await session())
      for problem in state.withLock({ $0.new(among: problems) }) { report(problem) }
    } catch let error as PostgresError where error.refusesRights {
      guard state.withLock({ $0.isFirstRefusal() }) else { return }
      log(
        .warning, "Reading problems of attached tables failed",
        ["error": "\(error)", "fix": "ridepulse doctor prints the grant"])
    } catch {
      log(.debug, "Reading problems of attached tables failed", ["error": "\(error)"])
    }
  }

  private func report(_ problem: WatchProblem) {
    let fields: KeyValuePairs = [
      "table": problem.table, "column": problem.column, "problem": problem.code,
      "row": problem.rowID ?? "", "transactions": problem.count.map { "\($0)" } ?? "",
    ]
    if problem.kind?.stopsTable ?? false {
      log(.error, "Attached table not copied", fields)
    } else {
      log(.warning, "Attached table has unusable values", fields)
    }
  }
}

/// Selects the problems that were not logged yet: each once, until it is gone.
struct ReportedProblems {
  private struct Key: Hashable {
    var table, column, code: String
  }

  private var known: Set<Key> = []
  private var wasRefused = false

  mutating func new(among problems: [WatchProblem]) -> [WatchProblem] {
    let before = known
    known = []
    return problems.filter { problem in
      let key = Key(table: problem.table, column: problem.column, code: problem.code)
      return known.insert(key).inserted && !before.contains(key)
    }
  }

  /// A missing right is logged only once, since it may be intended.
  mutating func isFirstRefusal() -> Bool {
    defer { wasRefused = true }
    return !wasRefused
  }
}

/// Runs `body` now, and again after each interval until the task is cancelled.
func repeatedly(every interval: Duration, _ body: () async -> Void) async {
  repeat {
    await body()
    try? await Task.sleep(for: interval)
  } while !Task.isCancelled
}
