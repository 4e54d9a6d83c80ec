import RideCore
import RuleFiles
import SystemSupport

/// `ridepulse check`: validates the rule files.
enum Check: Command {
  static let form = CommandForm(
    name: "check", summary: "validate the rule files, without database or network",
    operands: [
      .init(
        name: "DIR", isOptional: true,
        help: "the rule directory (RIDEPULSE_SCHEDULES, or schedules)")
    ],
    options: [
      .init(
        name: "--against", value: "FILE", isRepeatable: true,
        help: "a Swift file of the app; compares its ActivityAttributes with the cards")
    ],
    notes: ["Exit status 2 if it finds problems; warnings are not problems."])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let path = RuleDirectoryChoice.path(context.arguments.operands.first, context.environment)
    switch RuleDirectory.load(path) {
    case .failure(let problems):
      Terminal.print(problems.description)
      return .foundProblems
    case .success(let rules):
      for advice in RuleLint.all(about: rules.ruleSet) {
        let rule = advice.rule.map { "the rule \($0): " } ?? ""
        Terminal.print(Escape.line("\(advice.source ?? path): warning: \(rule)\(advice.text)"))
      }
      let widgets = APNsVariables.widgetBundleIDs(context.environment)
      for (app, bundleID) in widgets.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
        let name = APNsVariables.widgetBundleIDName(app)
        Terminal.print(
          "\(name): warning: cards go to \(bundleID).push-type.liveactivity; Apple requires the "
            + "app's bundle ID there, so unset this variable")
      }
      let contractProblems = rules.contractProblems(in: path)
      for problem in contractProblems { Terminal.print(problem.description) }
      if !contractProblems.isEmpty { return .foundProblems }
      Terminal.print("\(path): SHA-256 \(rules.ruleSet.digest), as the ledger names these rules")
      Terminal.print(
        "\(path): \(counted(rules.ruleCount, "rule")) in \(counted(rules.fileCount, "file")), "
          + "no problems")
      let files = context.arguments.all("--against")
      return files.isEmpty ? .done : try compare(rules, with: files)
    }
  }

  /// Compares all cards with the structs that the app's files declare.
  private static func compare(_ loaded: LoadedRules, with files: [String]) throws -> ExitStatus {
    let rules = loaded.ruleSet
    let sources = SwiftSources(try files.map { ($0, try source($0)) })
    for problem in sources.problems { Terminal.print(problem.description) }
    if !sources.problems.isEmpty { return .foundProblems }
    let states = rules.activeStates.union(rules.finalStates)
    var findings: [ContractFinding] = []
    var compared = 0
    for contract in rules.contracts {
      let cards = rules.cards(of: contract.typeName)
      let rule = loaded.contracts.first { $0.contract.typeName == contract.typeName }
      let comparison = ContractComparison(
        contract, rule: cards.map(\.source).joined(separator: ", "),
        places: { rule?.place(of: $0) }, states: states,
        startsByPush: cards.contains { !$0.startEvents.isEmpty }, with: sources)
      findings += comparison.findings
      if comparison.isCompared { compared += 1 }
    }
    for finding in findings { Terminal.print(finding.description) }
    let problems = findings.count { $0.kind == .problem }
    let unchecked = findings.count { $0.kind == .unchecked }
    Terminal.print(
      "\(sources.fileNames): \(counted(compared, "card")) compared, "
        + "\(counted(problems, "problem")), \(unchecked) not checked")
    return problems > 0 || compared == 0 ? .foundProblems : .done
  }

  private static func source(_ path: String) throws -> [UInt8] {
    do {
      return try RegularFile.read(path, limit: RuleDirectory.fileSizeLimit)
    } catch {
      throw CommandFailure("\(path) can't be read: \(error)")
    }
  }
}
