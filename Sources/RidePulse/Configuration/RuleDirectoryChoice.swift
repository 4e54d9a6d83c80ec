import Foundation
import RideCore
import RuleFiles

/// Selects and loads the rule directory of a command.
enum RuleDirectoryChoice {
  /// Returns the directory of the command line, else of `RIDEPULSE_SCHEDULES`, else `schedules`.
  static func path(_ named: String?, _ environment: [String: String]) -> String {
    named ?? environment.nonEmpty("RIDEPULSE_SCHEDULES") ?? "schedules"
  }

  /// - Throws: `CommandFailure` with every problem, one per line.
  static func load(_ named: String?, _ environment: [String: String]) throws -> LoadedRules {
    let path = path(named, environment)
    switch RuleDirectory.load(path) {
    case .success(let rules): return rules
    case .failure(let problems):
      let count = counted(problems.problems.count, "problem")
      throw CommandFailure("\(path) can't be used, \(count):\n\(problems)")
    }
  }
}
