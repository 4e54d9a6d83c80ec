import RideCore
import RuleFiles

/// `ridepulse check`: are the rule files right?
enum Check: Command {
  static let form = CommandForm(
    name: "check", summary: "validate the rule files, without database or network",
    operands: [
      .init(
        name: "DIR", isOptional: true,
        help: "the rule directory (RIDEPULSE_SCHEDULES, or schedules)")
    ],
    notes: ["Exit status 2 where it finds problems."])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let path = RuleDirectoryChoice.path(context.arguments.operands.first, context.environment)
    switch RuleDirectory.load(path) {
    case .failure(let problems):
      Terminal.print(problems.description)
      return .foundProblems
    case .success(let rules):
      Terminal.print(
        "\(path): \(rules.ruleCount) rules in \(rules.fileCount) files, no problems")
      return .done
    }
  }
}
