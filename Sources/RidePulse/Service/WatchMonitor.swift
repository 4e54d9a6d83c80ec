import Base
import PostgresStore
import Synchronization

/// Logs the problems that keep rows of attached tables from becoming rides.
final class WatchMonitor: Sendable {
  private let pool: SessionPool
  private let log: Log
  private let reported = Mutex(ReportedProblems())

  init(pool: SessionPool, log: Log) {
    self.pool = pool
    self.log = log
  }

  func check() async throws {
    let problems = try await pool.with(.short) { try await WatchProblem.all($0) }
    for problem in reported.withLock({ $0.new(among: problems) }) { report(problem) }
  }

  private func report(_ problem: WatchProblem) {
    let fields: Log.Fields = [
      "table": problem.table, "column": problem.column, "problem": problem.code,
      "row": problem.rowID ?? "", "transactions": problem.count ?? 0,
    ]
    if problem.kind?.stopsTable ?? false {
      log(.error, .tableNotCopied, fields)
    } else {
      log(.warning, .tableHasUnusableValues, fields)
    }
  }
}

/// Selects the problems that were not logged yet: each once, until it is gone.
struct ReportedProblems {
  private struct Key: Hashable {
    var table, column, code: String
  }

  private var known: Set<Key> = []

  mutating func new(among problems: [WatchProblem]) -> [WatchProblem] {
    let before = known
    known = []
    return problems.filter { problem in
      let key = Key(table: problem.table, column: problem.column, code: problem.code)
      return known.insert(key).inserted && !before.contains(key)
    }
  }
}
