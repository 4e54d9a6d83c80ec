import Base
import RideCore
import RuleFiles

/// One problem or warning of `ridepulse check`.
struct CheckFinding {
  enum Severity: String {
    case error, warning, note
  }

  /// What was examined, as programs name it.
  enum Kind: String, CaseIterable {
    case ruleFile = "rule-file"
    case lint
    case contract
    case strings
    case appSource = "app-source"
    case card
    case environment

    var summary: String {
      switch self {
      case .ruleFile: "A rule file that can't be read or is invalid"
      case .lint: "A rule that is valid and probably not as intended"
      case .contract: "A card that differs from contract.lock, or between two rules"
      case .strings: "A loc-key that the app's texts lack, or have with other arguments"
      case .appSource: "A Swift file of the app that can't be read"
      case .card: "A card that the app's struct can't decode"
      case .environment: "A variable that keeps pushes from being sent"
      }
    }
  }

  let kind: Kind
  let severity: Severity
  /// Nil if it concerns no file.
  var location: FileLocation?
  /// The rule's name; nil if it concerns no single rule.
  var rule: String?
  let message: String
  /// The line for people.
  let line: String

  init(_ problem: RuleProblem, _ kind: Kind = .ruleFile) {
    self.kind = kind
    severity = .error
    location = FileLocation(problem.file, problem.location)
    message = problem.message
    line = problem.description
  }

  /// - Parameter directory: the rule directory, for a warning about all rules.
  init(_ lint: RuleLint, _ kind: Kind = .lint, in directory: String) {
    self.kind = kind
    severity = .warning
    location = lint.fileLocation ?? FileLocation(directory)
    rule = lint.rule
    message = lint.text
    let subject = lint.rule.map { "the rule \($0): " } ?? ""
    line = Escape.line("\(lint.source ?? directory): warning: \(subject)\(lint.text)")
  }

  init(_ finding: ContractFinding) {
    kind = .card
    severity =
      switch finding.kind {
      case .problem: .error
      case .warning: .warning
      case .unchecked: .note
      }
    location = finding.fileLocation
    message = finding.kind == .unchecked ? "not checked: \(finding.text)" : finding.text
    line = finding.description
  }

  /// A warning about a variable of the environment.
  init(variable: String, _ text: String) {
    kind = .environment
    severity = .warning
    message = "\(variable): \(text)"
    line = "\(variable): warning: \(text)"
  }

  var json: JSONValue {
    .object([
      "file": .orNull(location?.file),
      "line": .orNull((location?.location?.line).map { Int64($0) }),
      "column": .orNull((location?.location?.column).map { Int64($0) }),
      "severity": .string(severity.rawValue), "kind": .string(kind.rawValue),
      "rule": .orNull(rule), "message": .string(message),
    ])
  }
}
