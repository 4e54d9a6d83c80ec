import Foundation
import Orchestrator
import RideCore
import RuleFiles

/// `ridepulse serve`: runs the service.
enum Serve: Command {
  static let form = CommandForm(
    name: "serve", summary: "run the service",
    options: [
      .init(
        name: "--schedules", value: "DIR",
        help: "the rule directory (RIDEPULSE_SCHEDULES, or schedules)"),
      .init(
        name: "--wake", value: "HOST:PORT",
        help: "a TCP port; each connection makes the service claim due rides at once"),
      .init(name: "--once", help: "handle what is due, then exit; for system cron"),
    ],
    notes: [
      "SIGTERM or SIGINT: takes no more rides, waits up to 10 s for answers, hands the rest back.",
      "A second one: leaves at once. SIGHUP: reads rule files and key anew, and keeps those that it",
      "has where the new ones are bad.",
    ])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let log = context.log.log
    let apns = try APNsVariables(context.environment)
    let rules = try RuleDirectoryChoice.load(
      context.arguments.value("--schedules"), context.environment)
    let listens = try Database.listens(context.environment)
    let service = try await Service(
      conninfo: Database.conninfo(context.environment), apns: apns, rules: rules.ruleSet, log: log,
      listens: listens && !context.arguments.has("--once"))
    let supervision = Supervision(context.environment, log)
    let signals = ServiceSignals(
      onFirst: { signal in
        log(.info, "Stopping: no new claims", ["signal": signal])
        supervision.stopping()
        service.stop()
      },
      onHangup: {
        supervision.reloading {
          Reload.perform(service, apns, context.arguments, context.environment, log)
        }
      })
    defer { signals.cancel() }
    do {
      try await serve(service, context, supervision, rules: rules.ruleCount)
    } catch {
      await service.close()
      throw error
    }
    await service.close()
    log(.info, "Stopped")
    return .done
  }

  private static func serve(
    _ service: Service, _ context: CommandContext, _ supervision: Supervision, rules: Int
  ) async throws {
    let log = context.log.log
    let fields: KeyValuePairs = ["rules": "\(rules)", "node": service.node]
    if context.arguments.has("--once") {
      log(.info, "Serving", fields)
      try await service.engine.runOnce()
      await service.outcomes.once(within: .seconds(10))
      await service.channels.reconcile()
      await service.watchMonitor.check()
      return await service.maintenance.rotate()
    }
    let endpoints = try ServiceEndpoints(service, context, log)
    defer { endpoints.close() }
    log(.info, "Serving", fields)
    supervision.ready()
    let maintenance = Task { await service.maintenance.run() }
    let keepalive = Task {
      await supervision.keepalive(
        stuck: { service.engine.stuck() }, problems: { service.problems })
    }
    let channels = Task { await service.channels.run() }
    let watch = Task { await service.watchMonitor.run() }
    let outcomes = Task { await service.outcomes.run() }
    await service.engine.run()
    for task in [maintenance, watch, keepalive, channels, outcomes] { task.cancel() }
    service.channels.stop()
    service.outcomes.ring()
    await service.endCalls()
  }
}
