import Base
import RideCore
import RuleFiles

/// The rules that a service decides with, where they come from, and why newer files are refused.
struct RuleRelease: Sendable {
  /// The rules of all rides, or of those that `trial` leaves.
  let rules: RuleSet
  /// The files that they were loaded from; nil if they are not to be stored.
  let source: RuleSource?
  let trial: Trial?
  /// The rules of both, for all that is not a decision.
  let all: RuleSet
  /// Whether the files are those of the database, because the directory's have problems.
  var isLastGood = false
  /// The problems of the last files that were read; nil if those are in use.
  var refused: RuleProblems?

  /// Rules that decide a share of the rides.
  struct Trial: Sendable {
    var rules: RuleSet
    var share: RecordSample
    var source: RuleSource
    /// Whether the files are those of the database, because the directory's have problems.
    var isLastGood = false

    /// The beginning of the digest, and the share.
    var text: String { "\(Revision.current(rules).start) for \(share.text)" }
  }

  init(_ rules: LoadedRules, from source: RuleSource, trial: Trial? = nil) {
    self.init(rules.ruleSet, from: source, trial: trial)
  }

  /// Rules that are not stored for other nodes, unless their files are given.
  init(_ rules: RuleSet, from source: RuleSource? = nil, trial: Trial? = nil) {
    (self.rules, self.source, self.trial) = (rules, source, trial)
    all = trial.map { rules.joined(with: $0.rules, for: $0.share) } ?? rules
  }

  var revision: Revision { .current(rules) }

  /// Logs the rules of a share of the rides, if there are any.
  func logTrial(_ log: Log) {
    guard let trial else { return }
    log(
      .info, .rulesOfShare,
      [
        "digest": Revision.current(trial.rules).start, "share": trial.share.text,
        "rules": trial.rules.rules.count,
      ])
  }

  /// The first problem of the files that were refused, and the number of further ones.
  var problem: String? {
    guard let problems = refused?.problems, let first = problems.first else { return nil }
    return problems.count == 1 ? "\(first)" : "\(first) (and \(problems.count - 1) more)"
  }

  /// What an operator must know about the rules of a service that may be ready.
  var notes: [String] {
    guard let problem else { return [] }
    let state = isLastGood || trial?.isLastGood ?? false ? "last good" : "unchanged"
    let second = trial.map { " + \($0.text)" } ?? ""
    return ["rules: \(state), \(revision.start)\(second): files were refused: \(problem)"]
  }
}

extension EngineConfiguration {
  /// Decides with the rules of a release.
  mutating func use(_ release: RuleRelease) {
    (rules, revision) = (release.rules, release.revision)
    trial = release.trial.map { RuleTrial($0.rules, revision: .current($0.rules), for: $0.share) }
  }
}
