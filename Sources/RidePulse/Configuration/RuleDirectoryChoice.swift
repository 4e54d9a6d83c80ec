import Foundation
import RideCore
import RuleFiles

/// Which rule files a command goes by.
enum RuleDirectoryChoice {
  /// The directory named on the command line, else by `RIDEPULSE_SCHEDULES`, else `schedules`.
  static func path(_ named: String?, _ environment: [String: String]) -> String {
    if let named { return named }
    if let path = environment["RIDEPULSE_SCHEDULES"], !path.isEmpty { return path }
    return "schedules"
  }

  /// Reads the rule files.
  ///
  /// - Throws: `CommandFailure` that holds every problem, a line each.
  static func load(_ named: String?, _ environment: [String: String]) throws -> LoadedRules {
    let path = path(named, environment)
    switch RuleDirectory.load(path) {
    case .success(let rules): return rules
    case .failure(let problems):
      let count = problems.problems.count
      throw CommandFailure(
        "\(path) can't be used, \(count) \(count == 1 ? "problem" : "problems"):\n\(problems)")
    }
  }
}
