import Base
import PostgresStore
import RideCore
import RuleFiles
import Timeline

/// `ridepulse compare`: an old sender's log next to the ledger of the same time.
enum Compare: Command {
  static let form = CommandForm(
    name: "compare", summary: "compare an old sender's log with the ledger of the same time",
    operands: [
      .init(
        name: "FILE",
        help: "the log: CSV with a header, may be gzip; columns time, person, kind, text")
    ],
    options: [
      .init(name: "--from", value: "TIME", help: "start time (that of the log's first push)"),
      .init(
        name: "--to", value: "TIME", help: "end time, not included (after the log's last push)"),
      .init(
        name: "--within", value: "DURATION", help: "the most time between the two senders (60s)"),
      .init(
        name: "--kind", value: "OLD=RULE", isRepeatable: true,
        help: "the rule that a kind of the log became (the rule, or the event, of the same name)"),
      .init(name: "--time-column", value: "NAME", help: "the column of times (time)"),
      .init(name: "--person-column", value: "NAME", help: "the column of owner IDs (person)"),
      .init(name: "--kind-column", value: "NAME", help: "the column of kinds (kind)"),
      .init(
        name: "--text-column", value: "NAME", help: "the column of texts (text, if it is there)"),
      .init(
        name: "--separator", value: "CHARACTER", help: "what is between fields, or tab (a comma)"),
      .choice("--encoding", "NAME", CommandForm.words(CSVReader.Encoding.self), default: "utf-8"),
      .init(
        name: "--time-zone", value: "NAME",
        help: "the zone of times that state none (they are refused)"),
      .init(
        name: "--text-rides", value: "N", help: "compare the texts of up to N recorded rides (2000)"
      ),
      .schedules,
      .init(
        name: "--fail-on", value: "WORDS",
        help:
          "exit with 2 on these: \(CommandForm.words(CompareFailure.self).joined(separator: ",")), "
          + "or none (only-old)"),
      .format,
    ],
    notes: [
      "Times are ISO 8601, or seconds, milliseconds or microseconds since 1970. only-old: RidePulse",
      "sent nothing; undecided: and has no row about it. Texts are those of rides that serve recorded",
      "(RIDEPULSE_RECORD), by the rules at hand if those decided it; the ledger has none.",
      "docs/moving.md describes the way from an old sender.",
    ])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let options = try CompareOptions(context.arguments)
    let log = try OldLogFile(options)
    let range = try log.range(options, context.arguments)
    let configuration = try configuration(context)
    let report = try await Database.with(context.environment, name: "compare") { session in
      try await Database.requireSchema(session)
      let kinds = KindMap(options.kinds, kinds: Set(log.pushes.map(\.kind)))
      let ledger = ComparedLedger(session: session, configuration: configuration)
      let new = try await ledger.pushes(in: range, options.window, kinds)
      let comparison = SenderComparison(
        log.pushes, new, kinds, within: options.window, in: range)
      let texts = try await ComparedTexts(
        session: session, configuration: configuration, limit: options.textRides
      ).outcomes(of: comparison.both, log.pushes, new, in: range)
      return CompareReport(
        options: options, log: log, range: range, new: new, kinds: kinds, comparison: comparison,
        texts: texts)
    }
    switch context.arguments.choice("--format") ?? OutputFormat.table {
    case .table: Terminal.print(CompareTable(report: report).text)
    case .json: Terminal.print(json: report.json)
    }
    return report.failures.isEmpty ? .done : .foundProblems
  }

  /// Returns the rules by which texts are found; nil without usable ones, unless they are named.
  private static func configuration(_ context: CommandContext) throws -> EngineConfiguration? {
    let named = context.arguments.value("--schedules")
    do {
      let rules = try RuleDirectoryChoice.load(named, context.environment).ruleSet
      var configuration = try APNsVariables.configuration(of: rules, context.environment)
      configuration.fillBundleIDs()
      return configuration
    } catch  where named == nil {
      return nil
    }
  }
}
