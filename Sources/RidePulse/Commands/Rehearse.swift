import Base
import Foundation
import RideCore
import RuleFiles
import SystemSupport
import Timeline

/// The format of a rehearsal.
enum RehearsalFormat: String, CaseIterable {
  case table, json, html, junit
}

/// `ridepulse rehearse`: what rules would have sent on a recorded day.
enum Rehearse: Command {
  static let form = CommandForm(
    name: "rehearse", summary: "replay a recorded day, and compare what two sets of rules send",
    operands: [
      .init(name: "FILE", help: "the day, JSON lines, may be gzip; see docs/testing-rules.md")
    ],
    options: [
      .schedules,
      .init(
        name: "--against", value: "DIR|recorded|FILE",
        help: "compare with other rule files, with what was sent, or with a former JSON report"),
      .init(
        name: "--apns", value: "recorded|accepted|FILE",
        help: "what APNs answers; FILE lists faults (recorded for a recorded day, else accepted)"),
      .init(
        name: "--seed", value: "N", help: "spread retries by chance (each waits the mean time)"),
      .init(
        name: "--fail-on", value: "WORDS",
        help:
          "exit with 2 on these: added,removed,late,changed,over-budget,broken-promise, a limit of "
          + "what phones show such as rings-per-ride=4, or none (all)"
      ),
      .init(
        name: "--jobs", value: "N", help: "replay on N cores; the result is the same (all, up to 8)"
      ),
      .choice("--format", "FORMAT", CommandForm.words(RehearsalFormat.self), default: "table"),
      .init(name: "--output", value: "FILE", help: "output file (standard output)"),
    ],
    notes: [
      "The day is replayed with the decision that serve uses. No database and no connection is opened.",
      "Rules with at-most count over all rides of an owner: a day with them is replayed on one core.",
      "Limits: rings-between=22:00-07:00, rings-per-ride=4, time-sensitive-per-ride=3, stale-card-for=2m,",
      "lost-behind=background. Without a value, never of the test files below the rules states it.",
    ])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let arguments = context.arguments
    guard let path = arguments.operands.first else { throw arguments.error("FILE is missing") }
    let directory = RuleDirectoryChoice.path(arguments.value("--schedules"), context.environment)
    let rules = try RuleDirectoryChoice.load(arguments.value("--schedules"), context.environment)
    let failOn = try FailOn(arguments, testsBelow: directory)
    let configuration = try configuration(rules.ruleSet, context)
    var run = RehearsalRun(path: path, configuration: configuration, options: .init())
    run.options.limits = failOn.limits
    let header = try run.header()
    run.options.seed = try arguments.integer("--seed", in: 0...Int.max).map { UInt64($0) }
    try setAnswers(arguments, header, &run)
    let against = try against(arguments, header, context)
    switch against {
    case .rules(let other, _): run.options.against = other
    case .recorded: run.options.comparesRecorded = true
    case .former, nil: break
    }
    let jobs = try jobs(arguments, [configuration, run.options.against].compactMap(\.self))
    let outcome = try await run.run(parts: jobs)
    var report = RehearsalReport(
      header: outcome.header, lines: outcome.lines, name: directory, otherName: against?.name,
      comparesLimits: run.options.against != nil, digest: "sha256:" + rules.ruleSet.digest,
      after: RehearsalSummary(outcome.result.figures),
      before: outcome.result.before.map(RehearsalSummary.init), changes: outcome.result.changes,
      types: types([run.options.against, configuration].compactMap(\.self)),
      limits: outcome.result.limits, failOn: failOn)
    if case .former(let figures, _) = against { report.compare(with: figures) }
    let output = try PreviewOutput(path: arguments.value("--output"), readers: .owner)
    switch arguments.choice("--format") ?? RehearsalFormat.table {
    case .table: try output.write(RehearsalTable(report: report).text)
    case .json: try output.write(RehearsalJSON(report: report).text)
    case .html: try output.write(RehearsalPage(report: report).html)
    case .junit: try output.write(report.junit.text + "\n")
    }
    try output.close()
    return report.failures.isEmpty ? .done : .foundProblems
  }

  /// What the rules are compared with.
  private enum Against {
    case rules(EngineConfiguration, String)
    case recorded
    case former(RehearsalSummary, String)

    var name: String {
      switch self {
      case .rules(_, let name), .former(_, let name): name
      case .recorded: "recorded"
      }
    }
  }

  private static func against(
    _ arguments: Arguments, _ header: DayHeader, _ context: CommandContext
  ) throws -> Against? {
    guard let text = arguments.value("--against") else { return nil }
    if text == "recorded" {
      guard header.isRecorded else {
        throw arguments.error("--against recorded: the day was not recorded by ridepulse")
      }
      return .recorded
    }
    guard FileManager.default.fileExists(atPath: text) else {
      throw arguments.error(
        "--against \(text) does not exist; expected a rule directory, a JSON report, or recorded")
    }
    if (try? FileManager.default.contentsOfDirectory(atPath: text)) != nil {
      let rules = try RuleDirectoryChoice.load(text, context.environment).ruleSet
      return .rules(try configuration(rules, context), text)
    }
    return .former(try RehearsalJSON.figures(text, of: header), text)
  }

  private static func setAnswers(
    _ arguments: Arguments, _ header: DayHeader, _ run: inout RehearsalRun
  ) throws {
    switch arguments.value("--apns") ?? (header.isRecorded ? "recorded" : "accepted") {
    case "accepted": break
    case "recorded": run.options.answers = try run.recordedAnswers()
    case let path:
      switch FaultsFile.read(path, from: header.from) {
      case .success(let steps): run.options.faults = steps
      case .failure(let problems): throw CommandFailure(problems.description)
      }
    }
  }

  /// Returns what each rule sends; the last of several rules of one name counts.
  private static func types(_ configurations: [EngineConfiguration]) -> [String: PushType] {
    let rules = configurations.flatMap(\.rules.rules)
    return rules.reduce(into: [:]) { $0[$1.name] = $1.what.pushType }
  }

  /// Returns the number of cores to use.
  private static func jobs(
    _ arguments: Arguments, _ configurations: [EngineConfiguration]
  ) throws -> Int {
    let asked = try arguments.integer("--jobs", in: 1...64)
    if configurations.contains(where: { !$0.rules.cappedRules.isEmpty }) { return 1 }
    return asked ?? max(1, min(8, ProcessInfo.processInfo.activeProcessorCount))
  }

  /// A replay needs no bundle IDs: a placeholder takes the place of each missing one.
  private static func configuration(
    _ rules: RuleSet, _ context: CommandContext
  ) throws -> EngineConfiguration {
    var configuration = try APNsVariables.configuration(of: rules, context.environment)
    configuration.fillBundleIDs()
    return configuration
  }
}
