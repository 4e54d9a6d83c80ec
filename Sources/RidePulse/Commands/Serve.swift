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
    let rules = try RuleDirectoryChoice.load(
      context.arguments.value("--schedules"), context.environment)
    let apns = variables.spelled(as: rules.ruleSet.apps)
    let listens = try Database.listens(context.environment)
    let service = try Service(
      conninfo: Database.conninfo(context.environment), apns: apns, rules: rules.ruleSet, log: log,
      listens: listens && !isOnce, recording: Record.sample(context.environment),
      onSettled: { if isOnce { once.handle($0) } })
    Reload.warn(service.credentials, apns, rules.ruleSet, at: service.now, log)
    let supervision = Supervision(context.environment, log)
    let signals = ServiceSignals(
      onFirst: { signal in
        log(.info, "Stopping: no new claims", ["signal": signal])
        supervision.stopping()
        service.stop()
      },
      onHangup: {
        supervision.reloading {
          Reload.perform(service, variables, context.arguments, context.environment, log)
        }
      })
    defer { signals.cancel() }
    let status: ExitStatus = try await withCleanup({ await service.close() }) {
      let fields: KeyValuePairs = ["rules": "\(rules.ruleCount)", "node": service.node]
      if isOnce {
        // The timer that runs it starts it again.
        guard try await service.start(limit: .seconds(5)) else { return .failed }
        try requirePin(service)
        log(.info, "Serving", fields)
        let status = try await once.run(service, log)
        try requirePin(service)
        return status
      }
      let endpoints = try ServiceEndpoints(service, context, log)
      defer { endpoints.close() }
      // Before the endpoints close, which wait for the responses in progress.
      return try await withCleanup({ await service.pool.close() }) {
        guard try await service.start(onWait: { supervision.waiting($0) }) else { return .done }
        log(.info, "Serving", fields)
        await Superuser.warn(service.pool, log)
        await serve(service, supervision)
        return .done
      }
    }
    log(.info, "Stopped")
    return status
  }

  private static func serve(_ service: Service, _ supervision: Supervision) async {
    supervision.ready()
    let tasks = Task { await service.tasks.run() }
    let keepalive = Task {
      await supervision.keepalive(
        stuck: { service.engine.stalls() }, problems: { service.problems })
    }
    await service.engine.run()
    for task in [tasks, keepalive] { task.cancel() }
  }

  /// Throws if the database's pin keeps a single run from sending.
  private static func requirePin(_ service: Service) throws {
    if service.pinProblems.isEmpty { return }
    throw CommandFailure(service.pinProblems.joined(separator: "; "))
  }
}

/// Handles SIGHUP: rereads the rule files, the receivers of posts, and the keys and certificates, and
/// adopts each of the three only if it is valid.
enum Reload {
  static func perform(
    _ service: Service, _ variables: APNsVariables, _ arguments: Arguments,
    _ environment: [String: String], _ log: Log
  ) {
    let rules = rules(arguments, environment, log)
    let ruleSet = rules?.ruleSet ?? service.rules
    let apns = rules.map { variables.spelled(as: $0.ruleSet.apps) } ?? service.apns
    receivers(service, environment, log)
    if apns.fcm.isEmpty || !apns.bundleIDs.isEmpty { keys(service, apns, ruleSet, log) }
    // Before the rules, which may have an app that needs one.
    if !apns.fcm.isEmpty { serviceAccounts(service, apns, log) }
    guard let rules else { return }
    service.use(ruleSet, apns)
    log(.info, "Rule files reloaded", ["rules": "\(rules.ruleCount)"])
  }

  private static func rules(
    _ arguments: Arguments, _ environment: [String: String], _ log: Log
  ) -> LoadedRules? {
    do {
      return try RuleDirectoryChoice.load(arguments.value("--schedules"), environment)
    } catch {
      for line in "\(error)".split(separator: "\n") {
        log(.error, "Rule files not reloaded: the new ones have errors", ["problem": String(line)])
      }
      return nil
    }
  }

  private static func keys(
    _ service: Service, _ apns: APNsVariables, _ rules: RuleSet, _ log: Log
  ) {
    do {
      let old = service.credentials
      let keys = try apns.credentials.reload(after: old, bundleIDs: apns.bundleIDs)
      let new = keys.with(old.android, apns.bundleIDs)
      service.use(new)
      let state = new == old ? "unchanged" : "replaced"
      log(.info, "APNs keys reloaded", ["credentials": keys.names, "state": state])
      for doubt in apns.credentials.unconfirmed(after: old, new) {
        log(.warning, "APNs credentials need attention", ["problem": doubt])
      }
      warn(new, apns, rules, at: service.now, log)
    } catch {
      log(
        .error, "APNs keys not reloaded: all previous ones stay in use", ["problem": "\(error)"])
    }
  }

  /// Apart from the keys of Apple, so that a bad file of one service does not keep the other's.
  private static func serviceAccounts(_ service: Service, _ apns: APNsVariables, _ log: Log) {
    let old = service.credentials
    do {
      let accounts = try apns.fcm.reload(after: old)
      service.use(old.with(accounts, apns.bundleIDs))
      let names = Set(accounts.values.compactMap { $0.serviceAccount?.description }).sorted()
      log(
        .info, "FCM service accounts reloaded",
        [
          "credentials": names.joined(separator: ", "),
          "state": accounts == old.android ? "unchanged" : "replaced",
        ])
    } catch {
      let kept = apns.fcm.kept(of: old)
      if kept != old.android { service.use(old.with(kept, apns.bundleIDs)) }
      log(
        .error, "FCM service accounts not reloaded: all previous ones stay in use",
        ["problem": "\(error)"])
    }
  }

  private static func receivers(
    _ service: Service, _ environment: [String: String], _ log: Log
  ) {
    do {
      let receivers = try PostVariables(environment).receivers
      if receivers.isEmpty { return }
      service.use(receivers)
      log(.info, "Receivers of posts reloaded", ["receivers": "\(receivers.count)"])
    } catch {
      log(
        .error, "Receivers of posts not reloaded: the previous ones stay in use",
        ["problem": "\(error)"])
    }
  }

  /// Logs what is doubtful about the credentials in use.
  static func warn(
    _ credentials: Credentials, _ apns: APNsVariables, _ rules: RuleSet, at now: Timestamp,
    _ log: Log
  ) {
    let doubts = CredentialAdvice.all(credentials, apns, cardApps: rules.cardApps, at: now)
    for doubt in doubts { log(.warning, "APNs credentials need attention", ["problem": doubt]) }
  }
}

/// The listening ports of a running service: the admin server and the wake port.
final class ServiceEndpoints {
  private var admin: AdminServer?
  private var wakePort: WakePort?
  private let page: LivePage

  /// Opens the ports that the command line and the environment name.
  ///
  /// - Throws: If a requested port can't be opened. A failure of the default admin address is only
  ///   logged, because a second service on the machine must not fail for it.
  init(_ service: Service, _ context: CommandContext, _ log: Log) throws {
    let wake: @Sendable () async -> String = { await service.wake() }
    page = LivePage(service)
    if let text = context.arguments.value("--wake") {
      let port = try WakePort(Self.address(text, "--wake"), wake: wake)
      wakePort = port
      log(.info, "Wake port", ["address": text, "port": "\(port.port)"])
    }
    let asked = context.environment.nonEmpty("RIDEPULSE_ADMIN")
    if asked == "off" { return }
    let address = asked ?? "127.0.0.1:9464"
    do {
      let server = try AdminServer(
        Self.address(address, "RIDEPULSE_ADMIN"),
        token: SecretVariable("RIDEPULSE_ADMIN_TOKEN", in: context.environment)?.text,
        queries: AdminQueries(
          stalls: { service.engine.stalls() }, problems: { service.problems }, wake: wake),
        routes: [
          Route("GET", "/metrics") { _ in
            var page = HTTPResponse.text(200, "")
            page.contentType = "text/plain; version=0.0.4; charset=utf-8"
            page.body = Array(await service.metrics().utf8)
            return page
          }
        ] + APIRoutes(service).all + page.routes)
      admin = server
      log(.info, "Admin server", ["address": address, "port": "\(server.port)"])
    } catch let error as ListenError where asked == nil {
      log(
        .warning, "Admin server not started; set another address in RIDEPULSE_ADMIN, or off",
        ["error": "\(error)"])
    }
  }

  func close() {
    wakePort?.stop()
    // The admin server waits for responses in progress, and the page's streams never end.
    page.close()
    admin?.stop()
  }

  private static func address(_ text: String, _ name: String) throws -> ListenAddress {
    guard let address = ListenAddress(text) else {
      throw CommandFailure("\(name) is \(text); expected HOST:PORT, such as 127.0.0.1:6000")
    }
    return address
  }
}
