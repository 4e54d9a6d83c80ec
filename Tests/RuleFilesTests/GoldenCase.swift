import Foundation
import TestSupport
import Testing

@testable import RuleFiles

/// One wrong file and the loader's messages for it, from a file in `Golden/`.
///
/// A case is `## name`, the YAML, a line `--` and the exact lines of the problems. With
/// `RECORD_GOLDEN=1` the test run rewrites the lines; read the diff before you commit it.
struct GoldenCase: Sendable, CustomTestStringConvertible {
  let name: String
  let input: String
  let expected: [String]

  var testDescription: String { name }

  /// Returns the cases of one golden file; a missing file fails every test that reads it.
  static func all(in file: String) -> [GoldenCase] {
    guard let text = try? String(contentsOf: url(file), encoding: .utf8) else {
      return [GoldenCase(name: "\(file) is missing", input: "", expected: ["a golden file"])]
    }
    return text.split(separator: "## ").map { section in
      let lines = section.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      let cut = lines.firstIndex(of: "--") ?? lines.endIndex
      return GoldenCase(
        name: lines[0], input: lines[1..<cut].map { $0 + "\n" }.joined(),
        expected: lines[cut...].dropFirst().filter { !$0.isEmpty })
    }
  }

  static func record(_ file: String, reading yaml: (GoldenCase) -> String) throws {
    try record(file) { problems(in: yaml($0)) }
  }

  static func record(_ file: String, messages: (GoldenCase) -> [String]) throws {
    let sections = all(in: file).map { row in
      let lines = [
        ["## " + row.name], [row.input.trimmingCharacters(in: .newlines), "--"],
        messages(row),
      ]
      return lines.joined().joined(separator: "\n") + "\n"
    }
    try sections.joined(separator: "\n").write(to: url(file), atomically: true, encoding: .utf8)
  }

  private static func url(_ file: String) -> URL {
    Project.root.appending(path: "Tests/RuleFilesTests/Golden/\(file)")
  }
}

/// Returns the loader's messages for one file named `a.yaml`.
func problems(in yaml: some StringProtocol) -> [String] {
  problems(in: [("a.yaml", Array(yaml.utf8))])
}

/// Returns the loader's messages for several files.
func problems(in files: [(name: String, bytes: [UInt8])]) -> [String] {
  switch RuleDirectory.parse(files: files) {
  case .success: []
  case .failure(let failure): failure.problems.map(\.description)
  }
}

/// Returns a file with one valid rule, changed: each given key replaces the rule's own, `-key`
/// removes one, other keys are added; indented lines belong to the line above.
func ruleFile(changing change: String = "") -> String {
  var entries = [
    "name: r", "app: customer", "on: ride_started", "alert: { title: x }", "expires: 5m",
  ]
  for line in change.split(separator: "\n").map(String.init) {
    let key = line.prefix { $0 != ":" }
    let index = entries.firstIndex { $0.prefix { $0 != ":" } == key.drop { $0 == "-" } }
    if line.hasPrefix(" ") {
      entries[entries.count - 1] += "\n    " + line
    } else if line.hasPrefix("-") {
      if let index { entries.remove(at: index) }
    } else if let index {
      // Indented lines belong to the last entry, so a changed entry with more lines is moved to the
      // end.
      entries[index] = line
      if change.contains("\n ") { entries.append(entries.remove(at: index)) }
    } else {
      entries.append(line)
    }
  }
  return "rules:\n  - " + entries.joined(separator: "\n    ") + "\n"
}
