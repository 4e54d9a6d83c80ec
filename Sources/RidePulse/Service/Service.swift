import APNSClient
import Foundation
import Orchestrator
import PostgresStore
import RideCore
import Synchronization

/// The engine with everything that it needs, as `serve` and `demo` run it.
final class Service: Sendable {
  /// The ID under which this process leases rides.
  let node = UUID().uuidString.lowercased()
  let engine: Engine
  let maintenance: Maintenance
  let watchMonitor: WatchMonitor
  let backfills: BackfillMonitor
  let channels: ChannelReconciler
  let outcomes: OutcomeApplier
  private let store: PostgresRideStore
  private let transport: APNSClient
  private let apns: APNsVariables
  private let sessions: Sessions
  private let meter: ServiceMeter
  private let time: DatabaseClock
  private let rulesInUse: Mutex<RuleSet>
  private let revisions: RevisionRecorder
  let conninfo: String
  /// The session for read requests over HTTP.
  let admin: AdminSession
  /// The session for searches over HTTP: one without its indexes takes long, and delays no metrics.
  private let searches: AdminSession
  /// The sessions for writing calls over HTTP.
  let callers: APISessions

  /// The duration of a claim: the timeout of an APNs response plus twice the time of a slow
  /// settlement. After that, other nodes can claim a dead node's rides.
  static let lease: Duration = .seconds(20)

  /// The engine's own connections to the database, open as long as it runs.
  private struct Sessions {
    let claims: PostgresSession
    let settlements: PostgresSession
    let listener: WakeListener?

    var both: [PostgresSession] { [claims, settlements] }

    init(
      conninfo: String, node: String, log: Log, listens: Bool,
      onEvent: @escaping @Sendable () -> Void
    ) async throws {
      func recording(_ name: String) -> @Sendable (SessionEvent) -> Void {
        { event in
          SessionLog.record(event, of: name, log)
          onEvent()
        }
      }
      claims = try await Database.session(conninfo, name: "claims", onEvent: recording("claims"))
      try await Database.requireSchema(claims)
      settlements = try await Database.session(conninfo, name: "settlements")
      listener =
        listens
        ? try WakeListener(
          conninfo: conninfo, node: node, log: log, onEvent: recording("listen")) : nil
    }
  }

  /// Opens everything, and throws at once if the database, key or schema can't be used.
  ///
  /// - Parameter listens: Whether producers notify the engine while it rests between its polls.
  init(
    conninfo: String, apns: APNsVariables, rules: RuleSet, log: Log, listens: Bool = true,
    onSettled: @escaping @Sendable ([Settlement]) -> Void = { _ in }
  ) async throws {
    let key = try apns.signingKey()
    self.conninfo = conninfo
    rulesInUse = Mutex(rules)
    let signal = EngineSignal()
    let time = DatabaseClock.ofThisMachine()
    self.time = time
    let sessions = try await Sessions(
      conninfo: conninfo, node: node, log: log, listens: listens, onEvent: { signal.notify() })
    self.sessions = sessions
    store = PostgresRideStore(
      node: node, host: ProcessInfo.processInfo.hostName, apps: Array(apns.bundleIDs.keys),
      rules: rules, lease: Self.lease, claims: sessions.claims, settlements: sessions.settlements,
      listener: sessions.listener,
      sweeping: {
        try PostgresSession(conninfo: conninfo, applicationName: "ridepulse sweep")
      }, onLate: { signal.notify() }, log: log)
    revisions = RevisionRecorder(session: sessions.claims, log: log)
    let meter = ServiceMeter(now: { time.now })
    self.meter = meter
    let admin = AdminSession(conninfo: conninfo)
    self.admin = admin
    searches = AdminSession(conninfo: conninfo)
    watchMonitor = WatchMonitor(session: { try await admin.get() }, log: log)
    backfills = BackfillMonitor(conninfo: conninfo, active: rules.activeStates, log: log)
    callers = APISessions(conninfo: conninfo)
    maintenance = Maintenance(conninfo: conninfo, log: log)
    self.apns = apns
    transport = try APNSClient(
      configuration: apns.configuration, key: key, now: { time.now },
      events: { TransportLog.record($0, log) })
    let channels = ChannelReconciler(
      conninfo: conninfo, client: transport.channels(), scopes: apns.channelScopes, log: log)
    self.channels = channels
    let outcomes = OutcomeApplier(conninfo: conninfo, log: log, onChannels: { channels.ended() })
    self.outcomes = outcomes
    channels.onUnreported = { outcomes.notify() }
    engine = Engine(
      EngineDependencies(
        store: store, transport: transport, configuration: Self.configuration(apns, rules),
        log: log,
        time: time,
        onSettled: { settlements in
          meter.handle(settlements)
          channels.handle(settlements)
          outcomes.handle(settlements)
          onSettled(settlements)
        }))
    signal.connect(to: engine)
    await recordApps(log)
    await revisions.record(rules)
  }

  /// Makes the apps known to the functions of the schema. Pushes do not depend on it.
  private func recordApps(_ log: Log) async {
    do {
      try await AppRegistry(session: sessions.claims).record(apps)
    } catch {
      log(
        .warning, "Apps not recorded",
        ["error": "\(error)", "fix": "ridepulse doctor prints the grant"])
    }
  }

  /// The problems that prevent the service from working; each scan for due rides queries the
  /// database.
  var problems: [String] {
    var problems = engine.settlementHalt.map { [Self.describe($0)] } ?? []
    if sessions.both.contains(where: { $0.isStalled() }) {
      problems.append("the database does not answer")
    }
    return problems.isEmpty ? engine.stalls(after: Self.longestTurn) : problems
  }

  private static func describe(_ halt: SettlementHalt) -> String {
    let seconds = halt.duration.components.seconds
    return "settlement has failed since \(halt.since) (\(seconds) s): \(halt.failure.description); "
      + "no ride is claimed or sent until it succeeds: fix what Postgres names, nothing is lost"
  }

  /// How long one iteration of the engine's loops may take before the service reports not ready:
  /// three times the statement timeout.
  static let longestTurn: Duration = .seconds(30)

  func metrics() async -> String {
    var gauges: RideGauges?
    var watched: [WatchProblem] = []
    if let session = try? await admin.get() {
      gauges = try? await RideGauges.read(session)
      // A right that the role lacks since an upgrade costs only these metrics.
      if gauges != nil { watched = (try? await WatchProblem.all(session)) ?? [] }
    }
    var reading = reading(gauges)
    reading.watched = watched
    return ServiceMetrics.page(reading)
  }

  var apps: [App] { Array(apns.bundleIDs.keys) }

  /// Returns the current readings of all parts, without a query to the database.
  func reading(_ gauges: RideGauges?) -> ServiceMetrics.Reading {
    let (age, ahead) = transport.tokenStatistics()
    return ServiceMetrics.Reading(
      tally: meter.total, engine: engine.statistics,
      transport: [
        .production: transport.statistics(of: .production),
        .sandbox: transport.statistics(of: .sandbox),
      ], tokenAge: age, apnsAhead: ahead, listenIsHealthy: listenIsHealthy, problems: problems,
      database: gauges)
  }

  /// The current time by the database's clock.
  var now: Timestamp { time.now }

  func history(of ride: String) async throws -> RideHistory {
    try await RideQueries(session: admin.get()).history(of: ride)
  }

  func search(_ key: SearchKey) async throws -> SearchResult {
    try await PushSearch(session: searches.get()).result(of: key)
  }

  /// Whether notifications of Postgres reach this node; nil if it does not listen. If they do not,
  /// events wait for the next poll.
  var listenIsHealthy: Bool? { sessions.listener?.isHealthy }

  /// The rules that decisions follow.
  var rules: RuleSet { rulesInUse.withLock { $0 } }

  func use(_ rules: RuleSet) {
    rulesInUse.withLock { $0 = rules }
    engine.use(Self.configuration(apns, rules))
    backfills.use(active: rules.activeStates)
    // Decisions do not wait for it: they know the revision's ID.
    Task { await revisions.record(rules) }
  }

  private static func configuration(_ apns: APNsVariables, _ rules: RuleSet) -> EngineConfiguration
  {
    var configuration = apns.configuration(of: rules)
    configuration.revision = .current(rules)
    return configuration
  }

  func use(_ key: SigningKey) {
    transport.use(key)
  }

  /// Stops claiming rides; the engine's run ends once the rides in flight are settled.
  func stop() {
    engine.stop()
  }

  /// Starts a scan for due rides at once; returns a line with their number.
  func wake() async -> String {
    engine.wake()
    let most = 1000
    guard let due = try? await store.dueRides(atMost: most) else {
      return "RidePulse is running; the database does not answer"
    }
    let rides = due > most ? "more than \(most) rides" : counted(due, "ride")
    return "RidePulse is running; \(rides) \(due == 1 ? "is" : "are") due"
  }

  /// Ends the database calls of HTTP requests, so that none delays the shutdown of the servers.
  func endCalls() async {
    async let admin: Void = admin.close()
    async let searches: Void = searches.close()
    await callers.close()
    _ = await (admin, searches)
  }

  /// Closes all sessions concurrently, each within a time limit. The engine must have ended before.
  func close() async {
    await withTaskGroup { group in
      group.addTask { await self.endCalls() }
      group.addTask { await self.outcomes.once(within: .seconds(1)) }
      group.addTask { await self.sessions.listener?.close() }
      group.addTask { try? await self.store.unregisterNode() }
    }
    await withTaskGroup { group in
      for session in sessions.both {
        group.addTask { await session.close(limit: .seconds(1)) }
      }
    }
  }
}

/// Wakes an engine that is created later.
private final class EngineSignal: Sendable {
  private let engine = Mutex<Engine?>(nil)

  func connect(to engine: Engine) {
    self.engine.withLock { $0 = engine }
  }

  func notify() {
    engine.withLock { $0 }?.wake()
  }
}

enum SessionLog {
  static func record(_ event: SessionEvent, of session: String, _ log: Log) {
    switch event {
    case .connected(let version, _):
      log(.info, "Database connected", ["session": session, "version": "\(version)"])
    case .disconnected(let reason):
      log(.warning, "Database connection lost", ["session": session, "reason": reason])
    case .unreachable(let reason):
      log(.warning, "Database unreachable", ["session": session, "reason": reason])
    case .notification:
      log(.debug, "Woken")
    }
  }
}

enum TransportLog {
  static func record(_ event: TransportEvent, _ log: Log) {
    let place = "\(event.environment.rawValue) \(event.connection)"
    switch event.kind {
    case .connected:
      log(.info, "APNs connected", ["connection": place])
    case .connectFailed(let reason, let wait):
      log(
        .warning, "APNs unreachable",
        [
          "connection": place, "reason": reason, "next": "\(wait)",
        ])
    case .goAway(let reason):
      log(.info, "APNs sent GOAWAY", ["connection": place, "reason": reason ?? "none"])
    case .providerTokenExpired:
      log(
        .warning, "APNs refused the provider token as expired; check this node's clock",
        [
          "connection": place
        ])
    case .clockSkew(let behind):
      log(
        .warning, "Database clock differs from APNs' clock; provider tokens corrected",
        ["connection": place, "behind": "\(behind)"])
    case .pingLost:
      log(.warning, "APNs connection lost: PING unanswered", ["connection": place])
    case .streamLimit(let limit):
      log(.debug, "APNs stream limit", ["connection": place, "limit": "\(limit)"])
    case .closed(let reason):
      log(.info, "APNs connection closed", ["connection": place, "reason": reason])
    }
  }
}
