import AdminServer
import Base
import Foundation
import Orchestrator
import PushClient
import RideCore
import RuleFiles

/// `ridepulse serve`: runs the service.
enum Serve: Command {
  static let form = CommandForm(
    name: "serve", summary: "run the service",
    options: [
      .schedules,
      .init(
        name: "--wake", value: "HOST:PORT",
        help: "a TCP port; each connection makes the service claim due rides at once"),
      .init(name: "--once", help: "handle what is due, then exit; for system cron"),
    ],
    notes: [
      "SIGTERM or SIGINT: claims no more rides, waits up to 10 s for answers, releases the rest. A",
      "second one exits at once. SIGHUP reloads rule files, keys, certificates and the secrets of",
      "posts; if the new ones are invalid, the current ones stay in use.",
      "With --once: exit status 1 if something due was left, such as a push that waits for another",
      "attempt; prints only warnings and errors if standard error is not a terminal.",
    ])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let isOnce = context.arguments.has("--once")
    let log = (isOnce ? context.log.quietIfNotOnTerminal(context.arguments) : context.log).log
    let once = OnceRun()
    let variables = try APNsVariables(context.environment)
    let listening = try Listening(context.environment)
    let cells = try cells(context.environment, isOnce: isOnce, listening)
    let supervision = Supervision(context.environment, log)
    let directories = try RuleDirectories(
      context.arguments.value("--schedules"), context.environment)
    let signals = ServeSignals(supervision, log)
    let listener = signals.listen(stopStatus: isOnce ? .failed : .done)
    defer { listener.cancel() }
    let logOf = { @Sendable (cell: Cell) in cell.name == nil ? log : context.log.of(cell).log }
    let rules = try await LastGoodRules(
      directories: directories, cells: cells, limit: .seconds(isOnce ? 5 : 10), logOf: logOf
    ).release(log) { supervision.waiting($0) }
    let apns = variables.spelled(as: rules.all.apps)
    let recording = try Record.sample(context.environment)
    let services = try Services(cells, SharedTransport(apns, log: log)) { cell, shared in
      try Service(
        cell: cell, apns: apns, release: rules, shared: shared, log: logOf(cell),
        listening: isOnce ? .off : listening, recording: recording, traces: context.environment,
        onSettled: { if isOnce { once.handle($0) } })
    }
    Reload.warn(services.shared.credentials, apns, rules.all, at: services.now, log)
    let reload = Reload(services, variables, directories, context.environment, log)
    signals.connect(stop: { services.stop() }, reload: { reload.perform() })
    let status: ExitStatus = try await withCleanup({ await services.close() }) {
      let onServing = { @Sendable (service: Service) in
        // A reload may have replaced the rules while it waited for the database.
        let rules = service.rulesInUse.release
        service.log(
          .info, .serving,
          [
            "rules": rules.rules.rules.count, "digest": rules.revision.start,
            "version": rules.revision.version, "node": service.node,
          ])
      }
      rules.logTrial(log)
      if isOnce, let service = services.only {
        // The timer that runs it starts it again.
        guard try await service.start(limit: .seconds(5)) else { return .failed }
        try requirePin(service)
        onServing(service)
        let status = try await once.run(service, log)
        try requirePin(service)
        return status
      }
      let endpoints = try ServiceEndpoints(services, reload, context, log)
      defer { endpoints.close() }
      // Before the endpoints close, which wait for the responses in progress.
      return try await withCleanup({ await services.closePools() }) {
        guard let service = services.only else {
          await CellStarts(services, supervision, onServing: onServing).run()
          return .done
        }
        guard try await service.start(onWait: { supervision.waiting($0) }) else { return .done }
        onServing(service)
        await Superuser.warn(service.pool, log)
        supervision.ready()
        await services.supervised(by: supervision) { await service.run() }
        return .done
      }
    }
    log(.info, .stopped)
    return status
  }

  /// Returns the cells to serve.
  private static func cells(
    _ environment: [String: String], isOnce: Bool, _ listening: Listening
  ) throws(CommandFailure) -> [Cell] {
    guard let file = try CellFile(environment) else {
      return [
        Cell(conninfo: try Database.conninfo(environment), schema: Cell.current?.schema)
      ]
    }
    if isOnce {
      throw CommandFailure(
        "--once serves one cell: choose it with --cell NAME; the cells are \(file.names)",
        status: .usage)
    }
    if listening.address != nil {
      throw CommandFailure(
        "RIDEPULSE_LISTEN is one address, and \(CellFile.variable) lists several databases: use on or "
          + "off")
    }
    return file.cells
  }

  /// Throws if the database's pin keeps a single run from sending.
  private static func requirePin(_ service: Service) throws {
    if service.pinProblems.isEmpty { return }
    throw CommandFailure(service.pinProblems.joined(separator: "; "))
  }
}

/// The listening ports of a running service: the admin server and the wake port.
final class ServiceEndpoints {
  private var admin: AdminServer?
  private var wakePort: WakePort?
  private let pages: [LivePage]

  /// Opens the ports that the command line and the environment name.
  ///
  /// - Throws: If a requested port can't be opened. A failure of the default admin address is only
  ///   logged, because a second service on the machine must not fail for it.
  init(
    _ services: Services, _ reload: Reload, _ context: CommandContext, _ log: Log
  ) throws {
    let wake: @Sendable () async -> String = { await services.wake() }
    let pages = services.all.map { LivePage($0) }
    self.pages = pages
    if let text = context.arguments.value("--wake") {
      let port = try WakePort(Self.address(text, "--wake"), wake: wake)
      wakePort = port
      log(.info, .wakePortListening, ["address": text, "port": port.port])
    }
    let asked = context.environment.nonEmpty("RIDEPULSE_ADMIN")
    if asked == "off" { return }
    let address = asked ?? "127.0.0.1:9464"
    do {
      let server = try AdminServer(
        Self.address(address, "RIDEPULSE_ADMIN"),
        token: SecretVariable("RIDEPULSE_ADMIN_TOKEN", in: context.environment)?.text,
        queries: AdminQueries(
          stalls: { services.stalls }, problems: { services.problems },
          notes: { services.notes }, wake: wake),
        routes: [
          Route("GET", "/metrics") { _ in
            var page = HTTPResponse.text(200, "")
            page.contentType = "text/plain; version=0.0.4; charset=utf-8"
            page.body = Array(await services.metrics().utf8)
            return page
          }
        ] + CellRoutes.all(services, reload, pages))
      admin = server
      log(.info, .adminServerListening, ["address": address, "port": server.port])
    } catch let error as ListenError where asked == nil {
      log(.warning, .adminServerNotStarted, ["error": "\(error)"])
    }
  }

  func close() {
    wakePort?.stop()
    // The admin server waits for responses in progress, and the page's streams never end.
    for page in pages { page.close() }
    admin?.stop()
  }

  private static func address(_ text: String, _ name: String) throws -> ListenAddress {
    guard let address = ListenAddress(text) else {
      throw CommandFailure("\(name) is \(text); expected HOST:PORT, such as 127.0.0.1:6000")
    }
    return address
  }
}
