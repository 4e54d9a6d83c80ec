import Foundation
import LocalPostgres
import RideCore
import RuleFiles

/// `ridepulse demo`: runs all of RidePulse on one machine, in a temporary directory.
enum Demo: Command {
  static let form = CommandForm(
    name: "demo", summary: "a private Postgres, a simulator and a small fleet, live",
    options: [
      .init(name: "--for", value: "DURATION", help: "end after this time, with a summary"),
      .init(name: "--rides", value: "N", help: "rides at a time (8)"),
      .init(
        name: "--schedules", value: "DIR",
        help: "the rule directory (RIDEPULSE_SCHEDULES, or schedules)"),
    ],
    notes: ["Everything lives in a temporary directory and is gone when the demo ends."])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let arguments = context.arguments
    let limit = try arguments.duration("--for", of: form)
    guard let size = Int(arguments.value("--rides") ?? "8"), (1...1000).contains(size) else {
      throw UsageError("--rides is not a number from 1 to 1000", form: form)
    }
    let rules = try RuleDirectoryChoice.load(arguments.value("--schedules"), context.environment)
    Terminal.complain("starting a private Postgres and apns-simulator …")
    let cluster = try await LocalCluster()
    let result: Result<ExitStatus, any Error>
    do {
      let simulator = try LocalSimulator(directory: cluster.directory + "/apns")
      let stage = DemoStage(
        conninfo: cluster.url(), apns: try APNsVariables(simulator.environment),
        rules: rules.ruleSet, log: context.log.log)
      defer { simulator.stop() }
      result = .success(try await stage.run(size: size, limit: limit))
    } catch {
      result = .failure(error)
    }
    await cluster.stop()
    return try result.get()
  }
}
