import Base
import RideCore
import RuleFiles
import Timeline

/// The results of tests, as text, JSON or JUnit's XML.
struct TestReport {
  struct Result {
    let file: RuleTestFile
    let test: RuleTest
    let unmet: [UnmetExpectation]
  }

  private(set) var results: [Result] = []
  /// By rule directory, in the order of the files.
  private var coverages: [(directory: String, coverage: RuleCoverage)] = []

  /// Runs tests of a file.
  mutating func run(_ tests: [RuleTest], of file: RuleTestFile) {
    let rules = file.rules.ruleSet
    let index =
      coverages.firstIndex { $0.directory == file.directory } ?? coverages.endIndex
    if index == coverages.endIndex {
      coverages.append((file.directory, RuleCoverage(of: rules)))
    }
    for test in tests {
      let run = RuleTestRun(test, by: file.configuration)
      coverages[index].coverage.add(run, of: test)
      results.append(Result(file: file, test: test, unmet: test.unmet(by: run, of: rules)))
    }
  }

  var hasFailed: Bool { results.contains { !$0.unmet.isEmpty } }

  /// The lowest coverage of a rule directory.
  var percent: Int { coverages.map(\.coverage.percent).min() ?? 0 }

  private var failures: Int { results.count { !$0.unmet.isEmpty } }

  // MARK: text

  func text(withCoverage: Bool) -> String {
    var lines: [String] = []
    for result in results {
      lines += result.unmet.map { result.file.description(of: $0, in: result.test) }
    }
    if withCoverage { lines.append(coverageText) }
    let files = Set(results.map(\.file.path)).count
    lines.append(
      "\(counted(results.count, "test")) in \(counted(files, "file")), \(failures) failed")
    return lines.joined(separator: "\n")
  }

  var coverageText: String {
    coverages.flatMap { directory, coverage in
      ["\(directory): \(coverage.percent) % of what tests can exercise"]
        + coverage.sections.map(Self.line)
    }.map { Escape.line($0) }.joined(separator: "\n")
  }

  private static func line(_ section: RuleCoverage.Section) -> String {
    let share = "\(section.count) of \(section.items.count)"
    let missing = section.missing
    let head = "  " + padded(section.name, to: 14) + "  "
    if missing.isEmpty { return head + share }
    return head + padded(share, to: 10) + "  never: " + missing.joined(separator: ", ")
  }

  // MARK: JSON

  /// One line for each test, one for each rule directory, and a summary.
  func json(withCoverage: Bool) -> String {
    var lines: [JSONValue] = results.map { result in
      .object([
        "file": .string(result.file.path), "line": .integer(Int64(result.test.location.line)),
        "test": .string(result.test.name), "passed": .bool(result.unmet.isEmpty),
        "failures": .array(result.unmet.map(Self.object)),
      ])
    }
    if withCoverage { lines += coverages.map(Self.object) }
    lines.append(
      .object([
        "summary": .bool(true), "tests": .integer(Int64(results.count)),
        "failed": .integer(Int64(failures)),
      ]))
    return lines.map { Escape.json($0.text) }.joined(separator: "\n")
  }

  private static func object(_ unmet: UnmetExpectation) -> JSONValue {
    .object([
      "kind": .string(unmet.kind.rawValue), "line": .integer(Int64(unmet.location.line)),
      "column": .integer(Int64(unmet.location.column)), "rule": .orNull(unmet.rule),
      "rule_at": .orNull(unmet.ruleSource), "message": .string(unmet.message),
      "differences": .array(
        unmet.differences.map {
          .object([
            "path": .string($0.path), "expected": .string($0.expected),
            "actual": .string($0.actual),
          ])
        }),
      "additions": .array(unmet.additions.map { .string($0) }),
      "screen": .array(unmet.screen.map { .string($0) }),
    ])
  }

  private static func object(_ directory: String, _ coverage: RuleCoverage) -> JSONValue {
    let sections = coverage.sections.map { section in
      (
        section.name.replacing(" ", with: "_"),
        JSONValue.object([
          "all": .integer(Int64(section.items.count)), "exercised": .integer(Int64(section.count)),
          "never": .array(section.missing.map { .string($0) }),
        ])
      )
    }
    return .object([
      "coverage": .string(directory), "percent": .integer(Int64(coverage.percent)),
      "sections": .object(Dictionary(sections) { first, _ in first }),
    ])
  }

  // MARK: JUnit

  /// A suite for each file, in the order of the files.
  var junit: JUnit {
    var suites: [JUnit.Suite] = []
    for result in results {
      let path = result.file.path
      if suites.last?.name != path { suites.append(JUnit.Suite(name: path, cases: [])) }
      suites[suites.count - 1].cases.append(
        JUnit.Case(
          name: result.test.name, location: (path, result.test.location.line),
          failures: result.unmet.map {
            JUnit.Failure(
              kind: $0.kind.rawValue, message: $0.message,
              details: result.file.description(of: $0, in: result.test))
          }))
    }
    return JUnit(suites: suites)
  }
}
