import Base
package import RideCore
import Synchronization

/// Claims due rides, decides them, sends their pushes, and settles them, until it is stopped.
///
/// Two loops share the rides in flight: the claim loop claims and sends, the settle loop settles
/// rides whose pushes have ended. The claim loop waits for the settle loop only if the node holds
/// as many rides as it may.
package final class Engine: Sendable {
  struct State {
    var inFlight = InFlight()
    var lanes = Lanes()
    /// Pushes to submit to the transport, and whether a call is submitting them.
    var outbox: [PushRequest] = []
    var isSubmitting = false
    /// Whether the lanes are checked for silence in intervals.
    var isWatchingSilence = false
    /// Pushes whose recipients must be read again before they are submitted.
    var outdated: [OutdatedPush] = []
    /// The current configuration, its revision, and the revision that live rides were last
    /// rescheduled for.
    var configuration: EngineConfiguration
    var revision = 1
    var adoptedRevision = 0
    /// The uptime before which a failed rescheduling is not retried.
    var retryAdoptionAt: Duration = .zero
    /// The number of claims that this node has made.
    var claims: UInt64 = 0
    /// Whether a claim may have skipped events of rides that have been settled since.
    var mayHaveMissed = false
    /// Whether the node was woken since its last rest.
    var isWoken = false
    /// How long calls took that succeeded.
    var claimTimes = DurationHistogram()
    var settleTimes = DurationHistogram()
    var isStopping = false
    var isClockOff = false
    /// When the database last answered a claim, as uptime, and how far ahead of this machine's
    /// clock its own was.
    var lastClaim: (at: Duration, ahead: Duration)?
    /// The claim loop has ended, so no further ride is added.
    var isDrained = false
    /// The uptime at which a stop was requested.
    var stoppedAt: Duration?
    /// The uptime at which rides that cannot be settled are left to their lease.
    var giveUpAt: Duration?
    var hasSettled = false
    var settling = SettlePolicy<HeldRide>()
    var settleSize: BatchSize
    var claimSize: BatchSize
    /// The total size of the JSON in held rides, in bytes.
    var heldBytes = 0
    var stallDetector = StallDetector()
    /// Of the calls that were made.
    var calls: [EngineCall: CallHealth] = [:]
    var rescheduling = FailurePace<StoreFailure>()
    /// When a claim of lost rides that failed is repeated.
    var retryLostAt: Duration = .zero
    var reach = ReachPolicy()
    /// A node without answers claims again and again on trial, and steps aside again.
    var asidePace = FailurePace<AsideCause>()
    /// Words that no rule file declares, as far as they are logged.
    var unknownWords: Set<String> = []
  }

  let parts: EngineDependencies
  let settings: EngineSettings
  let state: Mutex<State>
  /// Signals that rides may be due.
  let claimSignal = AsyncSignal()
  /// Signals that rides have been released.
  let capacitySignal = AsyncSignal()
  /// Signals that a ride has finished.
  let settleSignal = AsyncSignal()
  /// Signals that leases must be renewed, or need not be any longer.
  let renewSignal = AsyncSignal()
  /// Signals that recipients must be read again.
  let recipientSignal = AsyncSignal()
  /// Signals that a connection to APNs was opened, or could not be.
  let reachSignal = AsyncSignal()
  /// Signals that pushes are in flight, after a time without any.
  let silenceSignal = AsyncSignal()
  let time: DatabaseClock

  /// Creates an engine, which starts with `run` or `runOnce`.
  package init(_ parts: EngineDependencies, settings: EngineSettings = EngineSettings()) {
    self.parts = parts
    self.settings = settings
    state = Mutex(
      State(
        configuration: parts.configuration,
        settleSize: BatchSize(maximum: settings.settlementBatch),
        claimSize: BatchSize(maximum: settings.batch)))
    time = parts.time
  }

  /// Checks for due rides at once, after a commit or on request.
  package func wake() {
    state.withLock { $0.isWoken = true }
    claimSignal.notify()
  }

  package var configuration: EngineConfiguration { state.withLock { $0.configuration } }

  /// Replaces the configuration, except the pauses; it applies from the next claim on.
  package func use(_ configuration: EngineConfiguration) {
    state.withLock { state in
      let pauses = state.configuration.pauses
      state.configuration = configuration
      state.configuration.pauses = pauses
      state.revision += 1
      state.unknownWords = []
    }
    claimSignal.notify()
  }

  /// Replaces the pauses; they apply to what is decided from now on, also of a claim in progress.
  package func use(_ pauses: Pauses) { state.withLock { $0.configuration.pauses = pauses } }

  /// Stops claiming.
  ///
  /// `run` returns when the rides in flight have ended, at the latest after the drain limit and the
  /// settle limit.
  package func stop() {
    let uptime = time.uptime()
    let isFirst = state.withLock { state in
      defer { state.isStopping = true }
      if state.isStopping { return false }
      state.stoppedAt = uptime
      state.settling.makeAllDue()
      return true
    }
    if isFirst { parts.store.endCalls(within: settings.drainLimit + settings.settleLimit) }
    for signal in [claimSignal, capacitySignal, settleSignal, reachSignal] { signal.notify() }
  }

  /// Handles rides as they fall due, until `stop` is called; every failure of the database is
  /// retried.
  package func run() async {
    await withTaskGroup { group in
      group.addTask { await self.settleUntilDrained() }
      group.addTask { await self.renewUntilSettled() }
      group.addTask { await self.readRecipientsUntilSettled() }
      group.addTask { await self.watchReachUntilSettled() }
      group.addTask { await self.watchSilenceUntilSettled() }
      await claimUntilStopped()
      await drain()
    }
  }

  /// Handles the rides that are due now, and returns when all of them have ended.
  ///
  /// - Throws: the store's error, after the rides in flight have ended.
  package func runOnce() async throws {
    try await withThrowingTaskGroup { group in
      group.addTask { await self.settleUntilDrained() }
      group.addTask { await self.renewUntilSettled() }
      group.addTask { await self.readRecipientsUntilSettled() }
      group.addTask { await self.watchSilenceUntilSettled() }
      do {
        try await claimAll()
      } catch {
        await drain()
        throw error
      }
      await drain()
      try await group.waitForAll()
    }
  }

  /// The delays between retries while the database fails.
  static let failing = Backoff(first: .milliseconds(100), longest: .seconds(5))

  var isStopping: Bool { state.withLock { $0.isStopping } }

  /// Whether `stop` was called.
  package var isStopped: Bool { isStopping }

  /// Closes the transport within the drain limit, and lets the settle loop finish.
  ///
  /// Pushes that could not be sent go back to the agenda, due at once.
  private func drain() async {
    suspend(.claiming)
    let stoppedAt = state.withLock { $0.stoppedAt } ?? time.uptime()
    let limit = max(.zero, stoppedAt + settings.drainLimit - time.uptime())
    await parts.transport.close(within: limit)
    let uptime = time.uptime()
    state.withLock { state in
      state.isDrained = true
      state.giveUpAt = uptime + settings.settleLimit
      state.settling.makeAllDue()
    }
    settleSignal.notify()
  }
}
