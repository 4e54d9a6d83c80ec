import RideCore
import RuleFiles

/// `ridepulse check`: validates the rule files.
enum Check: Command {
  static let form = CommandForm(
    name: "check", summary: "validate the rule files, without database or network",
    operands: [
      .init(
        name: "DIR", isOptional: true,
        help: "the rule directory (RIDEPULSE_SCHEDULES, or schedules)")
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
      return .done
    }
  }
}
