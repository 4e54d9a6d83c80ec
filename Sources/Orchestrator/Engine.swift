package import RideCore
import Synchronization

/// Claims due rides, decides them, sends, and settles, until it is told to stop.
///
/// Two loops share the rides in flight: one claims and sends, one settles what has ended. Neither
/// waits for the other but when the node holds all that it may.
package final class Engine: Sendable {
  struct State {
    var flights = InFlight()
    var lanes = Lanes()
    /// Pushes that the transport is about to take, and whether a call hands them over.
    var outbox: [PushRequest] = []
    var isSubmitting = false
    /// What decisions go by, the how manieth that is, and which of them the agenda follows.
    var configuration: EngineConfiguration
    var edition = 1
    var adopted = 0
    /// When to adopt again after a conflict.
    var adoptAt: Duration = .zero
    /// How often this node has looked for due rides.
    var looks: UInt64 = 0
    var isStopping = false
    var isClockOff = false
    /// When the database last answered a look, on the clock that is never set, and how far ahead
    /// its own was.
    var look: (at: Duration, ahead: Duration)?
    /// The claiming loop has ended, so no further ride comes in.
    var isDrained = false
    /// When a stop was asked for.
    var stoppedAt: Duration?
    /// When to leave what can't be settled to its lease.
    var giveUpAt: Duration?
    var hasSettled = false
    var settling = SettlePolicy<SettlingRide>()
    var settleSize: BatchSize
    var claimSize: BatchSize
    /// Bytes of JSON in the rides held.
    var heldText = 0
    var watch = StallDetector()
  }

  let parts: EngineParts
  let settings: EngineSettings
  let state: Mutex<State>
  /// There may be work to look for.
  let lookBell = AsyncSignal()
  /// Rides have been let go.
  let roomBell = AsyncSignal()
  /// A ride has finished.
  let settleBell = AsyncSignal()
  /// Leases need to be renewed, or no longer.
  let renewBell = AsyncSignal()
  let time: DatabaseTime

  /// An engine that rests until `run`.
  package init(_ parts: EngineParts, settings: EngineSettings = EngineSettings()) {
    self.parts = parts
    self.settings = settings
    state = Mutex(
      State(
        configuration: parts.configuration,
        settleSize: BatchSize(maximum: settings.settlementBatch),
        claimSize: BatchSize(maximum: settings.batch)))
    time = parts.time
  }

  /// Looks for due rides at once: something was committed, or a person asked.
  package func wake() {
    lookBell.ring()
  }

  /// What it decides by.
  package var configuration: EngineConfiguration { state.withLock { $0.configuration } }

  /// Decides by other rules from the next look on.
  package func use(_ configuration: EngineConfiguration) {
    state.withLock { state in
      state.configuration = configuration
      state.edition += 1
    }
    lookBell.ring()
  }

  /// Takes no more rides. `run` returns when those in flight have ended, and at the latest when the
  /// drain limit and the settle limit have passed.
  package func stop() {
    let uptime = time.uptime()
    let isFirst = state.withLock { state in
      defer { state.isStopping = true }
      if state.isStopping { return false }
      state.stoppedAt = uptime
      state.settling.hurry()
      return true
    }
    if isFirst { parts.store.endCalls(within: settings.drainLimit + settings.settleLimit) }
    for signal in [lookBell, roomBell, settleBell] { signal.ring() }
  }

  /// Handles rides as they fall due until `stop`, through every failure of the database.
  package func run() async {
    await withTaskGroup { group in
      group.addTask { await self.settleUntilDrained() }
      group.addTask { await self.renewUntilSettled() }
      await claimUntilStopped()
      await drain()
    }
  }

  /// Handles what is due now, and returns when all of it has ended.
  ///
  /// - Throws: What the store threw; rides in flight have ended then too.
  package func runOnce() async throws {
    try await withThrowingTaskGroup { group in
      group.addTask { await self.settleUntilDrained() }
      group.addTask { await self.renewUntilSettled() }
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

  /// The waits while the database fails.
  static let failing = Backoff(first: .milliseconds(100), longest: .seconds(5))

  var isStopping: Bool { state.withLock { $0.isStopping } }

  /// The end of claiming: the transport gives what is in flight its time, and what it could not
  /// send goes back to the agenda, due at once.
  private func drain() async {
    isFree(.claiming)
    let stoppedAt = state.withLock { $0.stoppedAt } ?? time.uptime()
    let limit = max(.zero, stoppedAt + settings.drainLimit - time.uptime())
    await parts.transport.close(within: limit)
    let uptime = time.uptime()
    state.withLock { state in
      state.isDrained = true
      state.giveUpAt = uptime + settings.settleLimit
      state.settling.hurry()
    }
    settleBell.ring()
  }
}
