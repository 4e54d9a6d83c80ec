import Foundation
import RideCore
import RuleFiles

/// Selects and loads the rule directory of a command.
enum RuleDirectoryChoice {
  /// Returns the directory of the command line, else of `RIDEPULSE_SCHEDULES`, else `schedules`.
  static func path(_ named: String?, _ environment: [String: String]) -> String {
    named ?? environment.nonEmpty("RIDEPULSE_SCHEDULES") ?? "schedules"
  }

  /// Reads the files of this directory.
  static func source(_ named: String?, _ environment: [String: String]) -> RuleSource {
    RuleSource(of: path(named, environment))
  }

  /// - Throws: `CommandFailure` with every problem, one per line.
  static func load(_ named: String?, _ environment: [String: String]) throws -> LoadedRules {
    let source = source(named, environment)
    switch source.load() {
    case .success(let rules): return rules
    case .failure(let problems): throw failure(problems, of: source.directory)
    }
  }

  static func failure(_ problems: RuleProblems, of directory: String) -> CommandFailure {
    let count = counted(problems.problems.count, "problem")
    return CommandFailure("\(directory) can't be used, \(count):\n\(problems)")
  }
}
