import Base
import Foundation
import Orchestrator
import PostgresStore
import PushClient
import RideCore
import RuleFiles
import Synchronization
import SystemSupport

/// The engine with everything that it needs, as `serve` and `demo` run it.
final class Service: Sendable {
  let cell: Cell
  /// The ID under which this process leases rides.
  let node = UUID().uuidString.lowercased()
  let engine: Engine
  let tasks: ServiceTasks
  private let outcomes: OutcomeApplier
  private let backfills: BackfillMonitor
  private let cardTypes: CardTypeRecorder
  private let pauses: PauseMonitor
  private let channels: ChannelReconciler
  let store: PostgresRideStore
  /// The connections to APNs and FCM, which the cells of the process share.
  let shared: SharedTransport
  let posts: PostClient
  private let variables: Mutex<APNsVariables>
  let sessions: EngineSessions
  private let sessionLog: SessionLog
  let log: Log
  /// Waits until the database can be used.
  let starting: ServiceStart
  let meter: ServiceMeter
  let holderWatch = Mutex(HolderWatch())
  private let mistakes: ConfigurationLog
  let time: DatabaseClock
  let rulesInUse: RulesInUse
  private let revisions: RevisionRecorder
  private let recording: RecordSample?
  private let listening: Listening
  let pool: SessionPool
  let traces: TraceRecorder?

  /// The duration of a claim: the timeout of an APNs response plus twice the time of a slow
  /// settlement. After that, other nodes can claim a dead node's rides.
  static let lease: Duration = .seconds(20)

  /// Creates all parts; `start` must succeed before the engine runs. The environment names where
  /// spans are exported.
  /// - Parameter listening: Whether producers notify the engine while it rests between its polls.
  init(
    cell: Cell, apns: APNsVariables, release: RuleRelease, shared: SharedTransport, log: Log,
    listening: Listening = .on, recording: RecordSample? = nil,
    traces environment: [String: String] = [:],
    onSettled: @escaping @Sendable ([Settlement]) -> Void = { _ in }
  ) throws {
    let pin = apns.pin(shared.credentials)
    (self.cell, self.shared, self.log) = (cell, shared, log)
    self.listening = listening
    self.recording = recording
    let starting = ServiceStart(log: log)
    self.starting = starting
    let rules = release.all
    let pool = SessionPool(cell, obstacle: { starting.problem })
    self.pool = pool
    let rulesInUse = RulesInUse(release, pool: pool, node: node, log: log)
    self.rulesInUse = rulesInUse
    let signal = EngineSignal()
    let time = DatabaseClock.ofThisMachine()
    self.time = time
    let traces = try TraceRecorder(environment, node: node, pool: pool, now: { time.now }, log)
    self.traces = traces
    let sessionLog = SessionLog(log)
    self.sessionLog = sessionLog
    let sessions = try EngineSessions(
      cell: cell, node: node, log: log, record: sessionLog, listening: listening,
      onEvent: { signal.notify() })
    self.sessions = sessions
    let pauses = PauseMonitor(log: log, onChange: { signal.use($0) })
    self.pauses = pauses
    store = PostgresRideStore(
      node: node, host: ProcessInfo.processInfo.hostName, apps: apns.apps,
      pin: pin, rules: rules, lease: Self.lease, claims: sessions.claims,
      settlements: sessions.settlements, listener: sessions.listener,
      sweeping: { calls, timeout in
        try await pool.with(.long) { try await $0.run(calls, timeout: timeout) }
      },
      onLate: { signal.notify() }, onPauses: { pauses.use($0) }, readsTraces: traces != nil,
      log: log)
    revisions = RevisionRecorder(session: sessions.claims, log: log)
    let meter = ServiceMeter(now: { time.now })
    meter.name(rules)
    self.meter = meter
    backfills = BackfillMonitor(pool: pool, active: rules.activeStates, log: log)
    variables = Mutex(apns)
    let turn = shared.add(time, signal)
    posts = PostClient(receivers: apns.posts.receivers, now: { time.now })
    let channels = ChannelReconciler(
      pool: pool, client: shared.pushes.channels(), scopes: apns.channelScopes, pin: pin,
      log: log)
    let outcomes = OutcomeApplier(pool: pool, log: log, onChannels: { channels.ended() })
    self.outcomes = outcomes
    let mistakes = ConfigurationLog(log: log)
    self.mistakes = mistakes
    let configuration = Self.configuration(apns, release)
    let cardTypes = CardTypeRecorder(pool: pool, configuration)
    self.cardTypes = cardTypes
    self.channels = channels
    channels.onUnreported = { outcomes.signal.notify() }
    tasks = ServiceTasks(
      outcomes, channels, WatchMonitor(pool: pool, log: log), backfills, cardTypes,
      Maintenance(pool: pool, log: log), rulesInUse, traces, log)
    var parts = EngineDependencies(
      store: store, transport: ServiceTransport(shared: shared, turn: turn, posts: posts),
      configuration: configuration,
      log: log, time: time, recording: recording,
      onSettled: { settlements in
        meter.handle(settlements)
        channels.handle(settlements)
        outcomes.handle(settlements)
        mistakes.handle(settlements)
        onSettled(settlements)
      },
      onSent: { cardTypes.handle($0, $1) }, onRest: { ProcessMemory.releaseUnused() })
    if let traces { parts.onSpans = { traces.handle($0) } }
    #if DEBUG
      let ofTests = ProcessInfo.processInfo.environment
      parts.onDecide = TestDecision.hook(ofTests)
      let engine = Engine(parts, settings: TestPoll.settings(ofTests))
    #else
      let engine = Engine(parts)
    #endif
    self.engine = engine
    signal.connect(to: engine)
    DecisionWatchdog(engine.decisionWatch, log) {
      await engine.releaseOthers(within: DecisionWatchdog.releaseLimit)
    }.start()
  }

  /// Waits until the database can be used, and registers this service in it.
  ///
  /// - Parameters:
  ///   - limit: How long to wait; nil for any time.
  ///   - onWait: Called after each failed attempt with what the service waits for.
  /// - Returns: False if `stop` was called first.
  /// - Throws: At once if waiting cannot help: a wrong password, no such database, no schema.
  func start(limit: Duration? = nil, onWait: (String) -> Void = { _ in }) async throws -> Bool {
    let isUsable = try await starting.run(limit: limit, onWait: onWait) {
      try await sessions.claims.connect()
      try await Database.requireSchema(sessions.claims)
      try await store.checkPin()
      try await pauses.start(sessions.claims)
    }
    guard isUsable else { return false }
    try await requireSameDatabase()
    sessionLog.started()
    if let recording {
      try await Database.requireRights(toRecord: recording, sessions.claims)
      log(.info, .recordingRides, ["share": recording.text])
    }
    await recordApps()
    await recordRevisions()
    return true
  }

  /// Throws if LISTEN leads to another database than the other sessions. Where no connection is
  /// possible now, the service polls.
  private func requireSameDatabase() async throws {
    guard let address = listening.address else { return }
    let other = try? await ListenProbe.otherDatabase(address, than: sessions.claims)
    if let other {
      throw CommandFailure("RIDEPULSE_LISTEN leads to another database: \(other)")
    }
    log(.info, .listenApart, ["variable": "RIDEPULSE_LISTEN"])
  }

  /// Makes the apps known to the functions of the schema. Pushes do not depend on it.
  private func recordApps() async {
    do {
      try await AppRegistry(session: sessions.claims).record(apps)
    } catch {
      log(
        .warning, .appsNotRecorded,
        ["error": "\(error)", "fix": "ridepulse doctor prints the grant"])
    }
  }

  /// The settings of the environment by the names of the rules' apps.
  var apns: APNsVariables { variables.withLock { $0 } }

  var apps: [App] { apns.apps }

  /// The rules that decisions follow; of two sets, the rules of both.
  var rules: RuleSet { rulesInUse.release.all }

  /// Replaces the rules, whose apps the settings name. A new app's credentials must be in use already.
  func use(_ release: RuleRelease, _ apns: APNsVariables) {
    let rules = release.all
    variables.withLock { $0 = apns }
    let pin = apns.pin(shared.credentials)
    store.use(apps: apns.apps, pin: pin)
    channels.use(apns.channelScopes, pin)
    rulesInUse.use(release)
    let configuration = Self.configuration(apns, release)
    cardTypes.use(configuration)
    meter.name(rules)
    posts.reload()
    engine.use(configuration)
    backfills.use(active: rules.activeStates)
    // A service that waits for its database records them when it starts.
    guard starting.isDone else { return }
    // Decisions do not wait for it: they know the revision's ID.
    Task {
      await recordApps()
      await recordRevisions()
    }
  }

  private func recordRevisions() async {
    let release = rulesInUse.release
    await revisions.record(release.rules)
    if let trial = release.trial { await revisions.record(trial.rules) }
  }

  /// Keeps the rules in use, and records why newer files were refused.
  func refuse(_ problems: RuleProblems) { rulesInUse.refuse(problems) }

  private static func configuration(
    _ apns: APNsVariables, _ release: RuleRelease
  ) -> EngineConfiguration {
    var configuration = apns.configuration(of: release.all)
    configuration.use(release)
    return configuration
  }

  func use(_ receivers: [String: PostReceiver]) { posts.use(receivers) }

  /// Sends what waits for a lane whose key or certificate was replaced.
  func credentialsReplaced(_ old: Credentials, by credentials: Credentials) {
    engine.credentialsReplaced { lane in
      let lane = Credentials.Lane(lane.app, lane.network)
      return old[lane] != credentials[lane]
    }
    mistakes.reloaded()
  }

  /// Claims and sends until `stop`, and runs the periodic tasks meanwhile.
  func run() async {
    let repeated = Task { await tasks.run() }
    await engine.run()
    repeated.cancel()
  }

  /// Stops claiming rides; the engine's run ends once the rides in flight are settled.
  func stop() {
    engine.stop()
    if starting.isDone { return }
    starting.stop()
    // Ends an attempt in progress.
    Task { await sessions.claims.close(limit: .zero) }
  }

  /// Applies the answers of APNs that are left, within a time limit; other work of the pool ends with
  /// it.
  func applyOutcomes(within limit: Duration) async {
    let timer = Task {
      try? await Task.sleep(for: limit)
      if !Task.isCancelled { await pool.close(limit: .zero) }
    }
    _ = try? await outcomes.apply()
    timer.cancel()
  }

  /// Closes all sessions, each within a time limit. The engine must have ended before.
  func close() async {
    await pool.close()
    await withTaskGroup { group in
      group.addTask { await self.sessions.listener?.close() }
      guard self.starting.isDone else { return }
      group.addTask { await self.applyOutcomes(within: .seconds(1)) }
      group.addTask { try? await self.cardTypes.record(within: .seconds(1)) }
      group.addTask { await self.traces?.close(within: .seconds(1)) }
      group.addTask { try? await self.store.unregisterNode() }
    }
    await withTaskGroup { group in
      group.addTask { await self.pool.close() }
      for session in sessions.both {
        group.addTask { await session.close(limit: .seconds(1)) }
      }
    }
  }
}
