import APNSClient
import Foundation
import Orchestrator
import PostgresStore
import RideCore
import Synchronization

/// The engine with all that it stands on: what `serve` runs, and `demo`.
final class Service: Sendable {
  /// The name under which this process holds rides.
  let node = UUID().uuidString.lowercased()
  let engine: Engine
  let maintenance: Maintenance
  let watchMonitor: WatchMonitor
  let channels: ChannelReconciler
  let outcomes: OutcomeApplier
  private let store: PostgresRideStore
  private let transport: APNSClient
  private let apns: APNsVariables
  private let sessions: [PostgresSession]
  private let listener: WakeListener?
  private let meter: ServiceMeter
  private let time: DatabaseTime
  /// How to reach the database.
  let conninfo: String
  /// For questions over HTTP.
  let admin: AdminSession
  /// For what is posted over HTTP.
  let callers: APISessions

  /// How long a claimed ride is this node's own: an answer's deadline and twice the time that a
  /// slow settlement takes. A dead node's rides are everybody's again after that.
  static let lease: Duration = .seconds(20)

  /// Opens everything; a database, key or schema that can't be used is told now.
  ///
  /// - Parameter listens: Producers notify the engine where it rests between its looks.
  init(
    conninfo: String, apns: APNsVariables, rules: RuleSet, log: Log, listens: Bool = true,
    onSettled: @escaping @Sendable ([Settlement]) -> Void = { _ in }
  ) async throws {
    let key = try apns.signingKey()
    self.conninfo = conninfo
    let signal = EngineSignal()
    let time = DatabaseTime.ofThisMachine()
    self.time = time
    let claims = try await Database.session(
      conninfo, name: "claims",
      onEvent: { event in
        SessionLog.record(event, of: "claims", log)
        signal.ring()
      })
    try await Database.requireSchema(claims)
    let settlements = try await Database.session(conninfo, name: "settlements")
    if listens {
      listener = try WakeListener(
        conninfo: conninfo, node: node, log: log,
        onEvent: { event in
          SessionLog.record(event, of: "listen", log)
          signal.ring()
        })
    } else {
      listener = nil
    }
    sessions = [claims, settlements]
    store = PostgresRideStore(
      node: node, host: ProcessInfo.processInfo.hostName, apps: Array(apns.bundleIDs.keys),
      rules: rules, lease: Self.lease, claims: claims, settlements: settlements, listener: listener,
      sweeping: {
        try PostgresSession(conninfo: conninfo, applicationName: "ridepulse sweep")
      }, onLate: { signal.ring() }, log: log)
    let meter = ServiceMeter(now: { time.now })
    self.meter = meter
    let admin = AdminSession(conninfo: conninfo)
    self.admin = admin
    watchMonitor = WatchMonitor(session: { try await admin.get() }, log: log)
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
    channels.onUnreported = { outcomes.ring() }
    engine = Engine(
      EngineParts(
        store: store, transport: transport, configuration: apns.configuration(of: rules), log: log,
        time: time,
        onSettled: { settlements in
          meter.handle(settlements)
          channels.handle(settlements)
          outcomes.handle(settlements)
          onSettled(settlements)
        }))
    signal.connect(to: engine)
  }

  /// What hinders it from doing its work; each look for due rides asks the database.
  var problems: [String] {
    var problems = engine.settlementHalt.map { [Self.words($0)] } ?? []
    if sessions.contains(where: { $0.isStalled() }) {
      problems.append("the database does not answer")
    }
    return problems.isEmpty ? engine.stuck(after: Self.longestTurn) : problems
  }

  private static func words(_ halt: SettlementHalt) -> String {
    let seconds = halt.duration.components.seconds
    return "settlement has failed since \(halt.since) (\(seconds) s): \(halt.failure.description); "
      + "no ride is claimed or sent until it succeeds: fix what Postgres names, nothing is lost"
  }

  /// How long a turn of the engine's loops may take before the service is called not ready: a
  /// statement's limit, three times.
  static let longestTurn: Duration = .seconds(30)

  /// What it says of itself, in Prometheus' text format.
  func metrics() async -> String {
    var gauges: RideGauges?
    var watched: [WatchProblem] = []
    if let session = try? await admin.get() {
      gauges = try? await RideGauges.read(session)
      // A right that a role lacks since an upgrade costs these metrics, and no other.
      if gauges != nil { watched = (try? await WatchProblem.all(session)) ?? [] }
    }
    var reading = reading(gauges)
    reading.watched = watched
    return ServiceMetrics.page(reading)
  }

  /// The apps that it speaks to.
  var apps: [App] { Array(apns.bundleIDs.keys) }

  /// What its parts say at this moment; nothing is asked of the database.
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

  /// What the database would call the time.
  var now: Timestamp { time.now }

  /// All that is known of one ride.
  func history(of ride: String) async throws -> RideHistory {
    try await RideQueries(session: admin.get()).history(of: ride)
  }

  /// Notifications of Postgres reach this node; where they do not, events wait for the next poll.
  /// Nil where it does not listen.
  var listenIsHealthy: Bool? { listener?.isHealthy }

  /// Goes by other rules from now on.
  func use(_ rules: RuleSet) {
    engine.use(apns.configuration(of: rules))
  }

  /// Signs with another key from now on.
  func use(_ key: SigningKey) {
    transport.use(key)
  }

  /// Takes no more rides; the engine's run ends when those in flight have.
  func stop() {
    engine.stop()
  }

  /// Looks for due rides at once; returns a line that says how many there are.
  func wake() async -> String {
    engine.wake()
    let most = 1000
    guard let due = try? await store.dueRides(atMost: most) else {
      return "RidePulse lives; the database does not answer"
    }
    return "RidePulse lives; \(due > most ? "more than \(most)" : "\(due)") rides are due"
  }

  /// Ends the calls of those who ask over HTTP: none may hold up the end of the doors.
  func endCalls() async {
    async let admin: Void = admin.close()
    await callers.close()
    await admin
  }

  /// Closes all sessions, all at once and each within a limit; the engine must have ended.
  func close() async {
    await withTaskGroup { group in
      group.addTask { await self.endCalls() }
      group.addTask { await self.outcomes.once(within: .seconds(1)) }
      group.addTask { await self.listener?.close() }
      group.addTask { try? await self.store.leave() }
    }
    await withTaskGroup { group in
      for session in sessions {
        group.addTask { await session.close(limit: .seconds(1)) }
      }
    }
  }
}

/// Rings for an engine that comes into being later.
private final class EngineSignal: Sendable {
  private let engine = Mutex<Engine?>(nil)

  func connect(to engine: Engine) {
    self.engine.withLock { $0 = engine }
  }

  func ring() {
    engine.withLock { $0 }?.wake()
  }
}

/// What a database session tells, as log lines.
enum SessionLog {
  static func record(_ event: SessionEvent, of session: String, _ log: Log) {
    switch event {
    case .connected(let version, _):
      log(.info, "Database connected", ["session": session, "version": "\(version)"])
    case .disconnected(let reason):
      log(.warning, "Database connection lost", ["session": session, "reason": reason])
    case .unreachable(let reason):
      log(.warning, "Database can't be reached", ["session": session, "reason": reason])
    case .notification:
      log(.debug, "Woken")
    }
  }
}

/// What the APNs client tells, as log lines.
enum TransportLog {
  static func record(_ event: TransportEvent, _ log: Log) {
    let place = "\(event.environment.rawValue) \(event.connection)"
    switch event.kind {
    case .connected:
      log(.info, "APNs connected", ["connection": place])
    case .connectFailed(let reason, let wait):
      log(
        .warning, "APNs can't be reached",
        [
          "connection": place, "reason": reason, "next": "\(wait)",
        ])
    case .goAway(let reason):
      log(.info, "APNs sent GOAWAY", ["connection": place, "reason": reason ?? "none"])
    case .providerTokenExpired:
      log(
        .warning, "APNs calls the provider token expired: is this node's clock right?",
        [
          "connection": place
        ])
    case .clockSkew(let behind):
      log(
        .warning, "The database's clock is not APNs': provider tokens are corrected for it",
        ["connection": place, "behind": "\(behind)"])
    case .pingLost:
      log(.warning, "APNs connection is dead: a PING was not answered", ["connection": place])
    case .streamLimit(let limit):
      log(.debug, "APNs stream limit", ["connection": place, "limit": "\(limit)"])
    case .closed(let reason):
      log(.info, "APNs connection closed", ["connection": place, "reason": reason])
    }
  }
}
