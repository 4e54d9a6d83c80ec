import Base
import RideCore
import RuleFiles

/// The format of what `check` finds: for people, for programs, for code scanning, and for the log of a
/// GitHub workflow.
enum CheckFormat: String, CaseIterable {
  case text, json, sarif, github
}

/// What `ridepulse check` found; as text it is printed at once, and else at the end.
struct CheckReport {
  let format: CheckFormat
  /// The rule directory.
  let directory: String
  /// The rules, once they are loaded.
  var rules: LoadedRules?
  private(set) var findings: [CheckFinding] = []

  init(_ format: CheckFormat, of directory: String) {
    (self.format, self.directory) = (format, directory)
  }

  mutating func add(_ finding: CheckFinding) {
    findings.append(finding)
    if format == .text { Terminal.print(finding.line) }
  }

  mutating func add(_ problems: [RuleProblem], _ kind: CheckFinding.Kind) {
    for problem in problems { add(CheckFinding(problem, kind)) }
  }

  /// Prints a line that sums up, which only people read.
  func sumUp(_ line: String) {
    if format == .text { Terminal.print(line) }
  }

  /// Prints the whole for other readers than people.
  func end() {
    switch format {
    case .text: break
    case .json: Terminal.print(json: json)
    case .sarif: Terminal.print(json: SARIF(findings).json)
    case .github: Terminal.print(GitHubAnnotations(findings).text)
    }
  }

  private var json: JSONValue {
    .object([
      "directory": .string(directory),
      "rules": .orNull(rules.map { Int64($0.ruleCount) }),
      "files": .orNull(rules.map { Int64($0.fileCount) }),
      "digest": .orNull(rules?.ruleSet.digest),
      "problems": count(.error), "warnings": count(.warning), "notes": count(.note),
      "findings": .array(findings.map(\.json)),
    ])
  }

  private func count(_ severity: CheckFinding.Severity) -> JSONValue {
    .integer(Int64(findings.count { $0.severity == severity }))
  }
}
