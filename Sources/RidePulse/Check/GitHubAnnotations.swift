import Base

/// Findings as commands of a GitHub workflow, which shows them next to the lines of a pull request
/// (https://docs.github.com/actions/reference/workflow-commands-for-github-actions).
struct GitHubAnnotations {
  private let findings: [CheckFinding]

  init(_ findings: [CheckFinding]) {
    self.findings = findings
  }

  /// One line for each finding, and their number.
  var text: String {
    let problems = findings.count { $0.severity == .error }
    let count =
      "ridepulse check: \(counted(problems, "problem")), "
      + counted(findings.count - problems, "warning or note", "warnings and notes")
    return (findings.map(Self.line) + [count]).joined(separator: "\n")
  }

  private static func line(_ finding: CheckFinding) -> String {
    let command =
      switch finding.severity {
      case .error: "error"
      case .warning: "warning"
      case .note: "notice"
      }
    var properties: [(name: String, value: String)] = []
    if let location = finding.location {
      properties.append(("file", location.file))
      properties.append(("line", "\(location.location?.line ?? 1)"))
      if let column = location.location?.column { properties.append(("col", "\(column)")) }
    }
    properties.append(("title", "ridepulse check, \(finding.kind.rawValue)"))
    let list = properties.map { "\($0.name)=\(escaped($0.value, in: "%\r\n:,"))" }
      .joined(separator: ",")
    let rule = finding.rule.map { "the rule \($0): " } ?? ""
    return "::\(command) \(list)::\(escaped(rule + finding.message, in: "%\r\n"))"
  }

  /// Returns a text with the characters escaped that a workflow command can't have.
  private static func escaped(_ text: String, in special: String) -> String {
    text.unicodeScalars.map { scalar in
      guard special.unicodeScalars.contains(scalar), let byte = UInt8(exactly: scalar.value) else {
        return String(scalar)
      }
      return Escape.percent(byte)
    }.joined()
  }
}
