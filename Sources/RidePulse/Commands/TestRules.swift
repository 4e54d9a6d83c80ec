import Base
import CEL
import Foundation
import RideCore
import RuleFiles
import Timeline

/// `ridepulse test`: runs the tests of rule files.
enum TestRules: Command {
  enum Format: String, CaseIterable {
    case text, json, junit
  }

  static let form = CommandForm(
    name: "test", summary: "run the tests of the rule files, without database or network",
    operands: [
      .init(
        name: "PATH", isOptional: true, isRepeatable: true,
        help: "a test file, or a directory with *.test.yaml (the rule directory)")
    ],
    options: [
      .init(name: "--run", value: "REGEX", help: "only tests whose name matches"),
      .init(
        name: "--schedules", value: "DIR",
        help: "the rule directory of all files, instead of the one that each names"),
      .choice("--format", "FORMAT", CommandForm.words(Format.self), default: "text"),
      .init(
        name: "--coverage", help: "what of the rules no test has exercised"),
      .init(
        name: "--threshold", value: "N",
        help: "with --coverage: exit status 2 below N percent"),
      .init(
        name: "--update",
        help: "write what is sent into the tests that have neither then nor not-sent"),
    ],
    notes: [
      "Tests are decided as serve decides, on a clock of their own; see docs/testing-rules.md.",
      "Exit status 2 if a test fails, or the coverage is below the threshold.",
    ])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let arguments = context.arguments
    let threshold = try arguments.integer("--threshold", in: 0...100)
    if threshold != nil, !arguments.has("--coverage") {
      throw arguments.error("--threshold without --coverage; expected both")
    }
    let pattern = try arguments.value("--run").map { try regex($0, arguments) }
    let files = try load(context)
    if arguments.has("--update") {
      if let other = ["--run", "--coverage", "--format"].first(where: arguments.has) {
        throw arguments.error("\(other) next to --update; expected one of them")
      }
      return try update(files)
    }
    var report = TestReport()
    for file in files {
      let tests = file.tests.filter { test in
        pattern?.isFound(in: test.name) ?? true
      }
      report.run(tests, of: file)
    }
    if report.results.isEmpty {
      throw CommandFailure(
        pattern == nil
          ? "there is no test" : "no test of \(counted(files.count, "file")) matches --run")
    }
    let coverage = arguments.has("--coverage")
    switch arguments.choice("--format") ?? Format.text {
    case .text: Terminal.print(report.text(withCoverage: coverage))
    case .json: Terminal.print(report.json(withCoverage: coverage))
    case .junit:
      Terminal.print(report.junit.text)
      // The format has no place for it.
      if coverage { Terminal.printError(report.coverageText) }
    }
    if let threshold, report.percent < threshold {
      Terminal.printError(
        "ridepulse: coverage is \(report.percent) %, below the threshold of \(threshold) %")
      return .foundProblems
    }
    return report.hasFailed ? .foundProblems : .done
  }

  private static func regex(_ text: String, _ arguments: Arguments) throws -> LinearRegex {
    do {
      return try LinearRegex(text)
    } catch {
      throw arguments.error("--run \(text) is not a regular expression of RE2: it \(error.text)")
    }
  }

  /// Returns all test files; every problem of every file ends the command.
  private static func load(_ context: CommandContext) throws -> [RuleTestFile] {
    let arguments = context.arguments
    let named = arguments.value("--schedules")
    let standard = RuleDirectoryChoice.path(named, context.environment)
    let paths = arguments.operands.isEmpty ? [standard] : arguments.operands
    var loader = RuleTestLoader(
      override: named, standard: standard, allowsIncomplete: arguments.has("--update"))
    var problems: Set<RuleProblem> = []
    var files: [RuleTestFile] = []
    var seen: Set<String> = []
    for path in paths {
      let found = try RuleTestLoader.files(at: path).mapError { CommandFailure("\($0)") }.get()
      if found.isEmpty {
        throw CommandFailure("\(path) has no test file; expected one named *\(RuleTestFile.suffix)")
      }
      for file in found where seen.insert(file).inserted {
        switch loader.load(file) {
        case .failure(let failure): problems.formUnion(failure.problems)
        case .success(let file): files.append(file)
        }
      }
    }
    if problems.isEmpty { return files }
    let lines = problems.sorted().map(\.description).joined(separator: "\n")
    throw CommandFailure(
      "the tests can't be used, \(counted(problems.count, "problem")):\n\(lines)")
  }

  private static func update(_ files: [RuleTestFile]) throws -> ExitStatus {
    var count = 0
    for file in files {
      let result = try Result { () throws(RuleProblem) in try RuleTestUpdate(file).result() }
        .mapError { CommandFailure("\($0)") }.get()
      guard let result else { continue }
      try Generate.write(Data(result.bytes), to: file.path)
      count += result.names.count
      for name in result.names {
        Terminal.print(Escape.line("\(file.path): wrote then of the test \(name)"))
      }
    }
    Terminal.print("\(counted(count, "test")) completed; read them before you commit")
    return .done
  }
}
