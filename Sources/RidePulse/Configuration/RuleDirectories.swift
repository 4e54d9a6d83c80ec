import Foundation
import RideCore
import RuleFiles

/// The rule directories of a service: one, and with `RIDEPULSE_RULES_SHARE` a second one that
/// decides a share of the rides.
struct RuleDirectories: Sendable {
  let main: String
  let second: (directory: String, share: RecordSample)?

  static let shareVariable = "RIDEPULSE_RULES_SHARE"

  /// - Throws: `CommandFailure` if the variable has another form, or names the first directory.
  init(_ named: String?, _ environment: [String: String]) throws(CommandFailure) {
    main = RuleDirectoryChoice.path(named, environment)
    guard let text = environment.nonEmpty(Self.shareVariable) else {
      second = nil
      return
    }
    guard let colon = text.lastIndex(of: ":"), colon > text.startIndex,
      let share = RecordSample(text: String(text[text.index(after: colon)...]))
    else {
      throw CommandFailure(
        "\(Self.shareVariable) is \(text); expected a directory and a share of the rides up to "
          + "100%, such as rules-next:5%")
    }
    let directory = String(text[..<colon])
    let resolved = [main, directory].map { URL(fileURLWithPath: $0).resolvingSymlinksInPath().path }
    if resolved[0] == resolved[1] {
      throw CommandFailure("\(Self.shareVariable) names \(main), which decides all other rides")
    }
    second = (directory, share)
  }

  /// Reads and loads all files; any problem refuses both directories.
  func load() -> Result<RuleRelease, RuleProblems> {
    let source = RuleSource(of: main)
    var problems: [RuleProblem] = []
    let loaded = source.load()
    if case .failure(let found) = loaded { problems += found.problems }
    let trial = trial(nextTo: try? loaded.get())
    if case .failure(let found) = trial { problems += found.problems }
    guard case .success(let rules) = loaded, case .success(let second) = trial else {
      return .failure(RuleProblems(problems: problems))
    }
    return .success(RuleRelease(rules, from: source, trial: second))
  }

  /// Loads the second directory; nil if there is none.
  ///
  /// - Parameter first: the rules of the other rides, if they could be loaded.
  func trial(nextTo first: LoadedRules?) -> Result<RuleRelease.Trial?, RuleProblems> {
    guard let second else { return .success(nil) }
    let source = RuleSource(of: second.directory)
    return trial(source, for: second.share, nextTo: first).map { $0 }
  }

  /// Loads files of the second directory.
  func trial(
    _ source: RuleSource, for share: RecordSample, nextTo first: LoadedRules?
  ) -> Result<RuleRelease.Trial, RuleProblems> {
    Self.load(source, nextTo: first).map {
      RuleRelease.Trial(rules: $0.ruleSet, share: share, source: source)
    }
  }

  /// Loads the second directory with what only its files have, such as the places of rules; nil if
  /// there is none.
  func loadSecond(nextTo first: LoadedRules?) -> Result<LoadedRules?, RuleProblems> {
    guard let second else { return .success(nil) }
    return Self.load(RuleSource(of: second.directory), nextTo: first).map { $0 }
  }

  private static func load(
    _ source: RuleSource, nextTo first: LoadedRules?
  ) -> Result<LoadedRules, RuleProblems> {
    source.load().flatMap { rules in
      let problem = first.flatMap { rules.problem(nextTo: $0, directory: source.directory) }
      return problem.map { .failure(RuleProblems(problems: [$0])) } ?? .success(rules)
    }
  }
}
