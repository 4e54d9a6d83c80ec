import AdminServer
import Base
import RideCore
import RuleFiles

/// The answers of `POST /v1/reload`.
enum ReloadAnswer {
  /// - Parameter outcome: nil if another reload is in progress.
  static func response(_ outcome: Reload.Outcome?) -> HTTPResponse {
    switch outcome {
    case nil:
      return APIError(
        .requestInProgress, "a reload is in progress; repeat this one in a moment"
      ).response
    case .done(let release, let changes, let kept):
      let members: [String: JSONValue] = [
        "digest": .string(release.rules.digest),
        "revision": .integer(Int64(release.revision.id)),
        "rules": .integer(Int64(release.rules.rules.count)),
        "share": release.trial.map { share($0, nextTo: release.rules) } ?? .null,
        "kept": .array(kept.map { .string($0) }),
      ]
      return .json(200, .object(members.merging(changes.members) { own, _ in own }))
    case .refused(let problems):
      let count = counted(problems.problems.count, "problem")
      return APIError(
        .rulesRefused, "the rule files have \(count), and nothing was changed; fix them and repeat"
      ).response(with: ["problems": .array(problems.problems.map(\.json))])
    }
  }

  /// The rules of the second directory, and how they differ from the first.
  private static func share(_ trial: RuleRelease.Trial, nextTo rules: RuleSet) -> JSONValue {
    let members: [String: JSONValue] = [
      "share": .string(trial.share.text), "digest": .string(trial.rules.digest),
      "revision": .integer(Int64(Revision.current(trial.rules).id)),
      "rules": .integer(Int64(trial.rules.rules.count)),
    ]
    let changes = RuleChanges(from: rules, to: trial.rules)
    return .object(members.merging(changes.members) { own, _ in own })
  }
}

extension RuleProblem {
  /// The problem as an object for programs.
  var json: JSONValue {
    .object([
      "file": .string(file), "line": location.map { .integer(Int64($0.line)) } ?? .null,
      "column": location.map { .integer(Int64($0.column)) } ?? .null,
      "severity": .string("error"), "message": .string(message),
    ])
  }
}
