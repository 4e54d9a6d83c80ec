public import RideCore
import Synchronization

/// Claims due rides, decides them, sends, and settles, until it is told to stop.
///
/// Two loops share the rides in flight: one claims and sends, one settles what has ended. Neither
/// waits for the other but when the node holds all that it may.
public final class Engine: Sendable {
  struct State {
    var flights = InFlight()
    var lanes = Lanes()
    /// Pushes that the transport is about to take, and whether a call hands them over.
    var outbox: [PushRequest] = []
    var isSubmitting = false
    /// What decisions go by, the how manieth that is, and which of them the agenda follows.
    var rulebook: Rulebook
    var edition = 1
    var adopted = 0
    /// How often this node has looked for due rides.
    var looks: UInt64 = 0
    var isStopping = false
    var isClockOff = false
    /// When the database last answered a look, on the clock that is never set, and how far ahead
    /// its own was.
    var look: (at: Duration, ahead: Duration)?
    /// The claiming loop has ended, so no further ride comes in.
    var isDrained = false
    var watch = LoopWatch()
  }

  let parts: EngineParts
  let settings: EngineSettings
  let state: Mutex<State>
  /// There may be work to look for.
  private let lookBell = Doorbell()
  /// Rides have been let go.
  private let roomBell = Doorbell()
  /// A ride has finished.
  let settleBell = Doorbell()
  let time: DatabaseTime

  /// An engine that rests until `run`.
  public init(_ parts: EngineParts, settings: EngineSettings = EngineSettings()) {
    self.parts = parts
    self.settings = settings
    state = Mutex(State(rulebook: parts.rulebook))
    time = parts.time
  }

  /// Looks for due rides at once: something was committed, or a person asked.
  public func wake() {
    lookBell.ring()
  }

  /// What it decides by.
  public var rulebook: Rulebook { state.withLock { $0.rulebook } }

  /// Decides by other rules from the next look on.
  public func use(_ rulebook: Rulebook) {
    state.withLock { state in
      state.rulebook = rulebook
      state.edition += 1
    }
    lookBell.ring()
  }

  /// Takes no more rides. `run` returns when those in flight have ended or the drain limit passed.
  public func stop() {
    state.withLock { $0.isStopping = true }
    lookBell.ring()
    roomBell.ring()
  }

  /// Handles rides as they fall due until `stop`, through every failure of the database.
  public func run() async {
    await withTaskGroup { group in
      group.addTask { await self.settleUntilDrained() }
      var pulse = Pulse(pollInterval: settings.pollInterval)
      var failures = 0
      while !isStopping {
        do {
          try await adopt()
          await next(try await look(&pulse))
          failures = 0
        } catch {
          await rest(after: error, failures)
          failures += 1
        }
      }
      await drain()
    }
  }

  /// Handles what is due now, and returns when all of it has ended.
  ///
  /// - Throws: What the store threw; rides in flight have ended then too.
  public func runOnce() async throws {
    try await withThrowingTaskGroup { group in
      group.addTask { await self.settleUntilDrained() }
      do {
        try await adopt()
        while !isStopping {
          let claim = try await claim(asleep: false)
          if claim.rides.isEmpty, await finishFlights() { break }
        }
      } catch {
        await drain()
        throw error
      }
      await drain()
      try await group.waitForAll()
    }
  }

  private func adopt() async throws {
    let (rulebook, edition, adopted) = state.withLock { ($0.rulebook, $0.edition, $0.adopted) }
    if edition == adopted { return }
    // It goes through all live rides, page by page: nobody can say how long.
    isFree(.claiming)
    let rides = try await parts.store.adopt(rulebook.rules)
    state.withLock { $0.adopted = edition }
    if rides > 0 {
      parts.log(
        .info, "Rules that speak by the clock have changed: live rides are looked at anew",
        ["rides": "\(rides)"])
    }
  }

  /// The waits while the database fails.
  static let failing = Backoff(first: .milliseconds(100), longest: .seconds(5))

  private var isStopping: Bool { state.withLock { $0.isStopping } }

  private func look(_ pulse: inout Pulse) async throws -> Pulse.Step {
    guard case .look(let asleep) = pulse.look else { return .rest(atMost: .zero) }
    let limit = await room()
    turns(.claiming)
    let claim = try await claim(limit: limit, asleep: asleep)
    return pulse.claimed(
      claim.rides.count, of: limit, untilDue: claim.nextDue.map { $0 - claim.now })
  }

  private func next(_ step: Pulse.Step) async {
    guard case .rest(let limit) = step, !isStopping else { return }
    turns(.claiming)
    await lookBell.wait(atMost: limit, on: parts.clock)
  }

  /// Waits until a batch worth its round trips fits; returns how many rides may be claimed.
  private func room() async -> Int {
    while true {
      let (held, stopping) = state.withLock { ($0.flights.count, $0.isStopping) }
      let room = min(settings.batch, settings.maximumInFlight - held)
      if room >= min(settings.batch, settings.maximumInFlight) / 2 || stopping {
        return max(room, 1)
      }
      waits(.claiming)
      await roomBell.wait(on: parts.clock)
    }
  }

  private func claim(asleep: Bool) async throws -> Claim {
    try await claim(limit: await room(), asleep: asleep)
  }

  private func rest(after error: any Error, _ failures: Int) async {
    let delay = Self.failing.delay(failures: failures, random: Double.random(in: 0.1..<1))
    turns(.claiming)
    parts.log(
      .warning, "Can't claim rides; trying again",
      ["error": "\(error)", "in": "\(delay)"])
    await lookBell.wait(atMost: delay, on: parts.clock)
  }
}

// Settling, and the end.
extension Engine {
  private func settleUntilDrained() async {
    while true {
      let (batch, isDrained) = state.withLock { state in
        (
          state.flights.takeFinished(atMost: settings.settlementBatch),
          state.isDrained && state.flights.count == 0
        )
      }
      if !batch.isEmpty {
        await settle(batch)
      } else if isDrained {
        return
      } else {
        waits(.settling)
        await settleBell.wait(on: parts.clock)
      }
    }
  }

  /// Writes a batch, and lets its rides go.
  private func settle(_ batch: [InFlight.Finished]) async {
    let now = time.now
    await write(
      batch.map { ride in
        ClaimedSettlement(
          claim: ride.claim,
          settlement: ride.decision.settled(
            ride.outcomes, now: now, jitter: { Double.random(in: 0..<1) }))
      })
    // A look that came while a ride was held passed over its new events, and their NOTIFY is spent.
    let mayHaveMissed = state.withLock { state in
      state.flights.settled(batch.count)
      return batch.contains { $0.look < state.looks }
    }
    if mayHaveMissed { lookBell.ring() }
    roomBell.ring()
  }

  /// Writes settlements, however often the database must be asked; one that was written before a
  /// lost answer is refused by its fence the second time.
  private func write(_ settlements: [ClaimedSettlement]) async {
    var failures = 0
    while true {
      turns(.settling)
      do {
        let lost = try await parts.store.settle(settlements)
        if !lost.isEmpty {
          parts.log(.warning, "Leases were lost before settling", ["rides": "\(lost.count)"])
        }
        let written = settlements.map(\.settlement).filter { !lost.contains($0.rideID) }
        audit(written)
        parts.onSettled(written)
        return
      } catch let refused as RefusedSettlement {
        return await part(settlements, refused)
      } catch {
        let delay = Self.failing.delay(failures: failures, random: Double.random(in: 0.1..<1))
        failures += 1
        parts.log(
          .warning, "Can't settle rides; trying again",
          ["rides": "\(settlements.count)", "error": "\(error)", "in": "\(delay)"])
        if state.withLock({ $0.isDrained }), failures > 5 { return }
        try? await parts.clock.sleep(for: delay)
      }
    }
  }

  /// One ride's settlement is refused for what it is: the others are written without it, and the
  /// ride is set aside, lest it come back again and again.
  private func part(_ settlements: [ClaimedSettlement], _ refused: RefusedSettlement) async {
    if settlements.count > 1 {
      let half = settlements.count / 2
      await write(Array(settlements[..<half]))
      await write(Array(settlements[half...]))
    } else if let ride = settlements.first?.claim {
      parts.log(
        .error, "A ride is parked: its settlement is refused; mend that and call ridepulse.unpark",
        ["ride": ride.rideID.text, "reason": refused.description])
      // Where even this fails the ride falls due again when its lease ends.
      try? await parts.store.park(ride, reason: refused.description)
    }
  }

  /// Each slot has one fate; a slot without one is a fault that somebody must hear of.
  private func audit(_ settlements: [Settlement]) {
    for settlement in settlements {
      for (rule, tally) in settlement.tallies where tally.remainder != 0 {
        parts.log(
          .error, "Slots of a rule do not add up: please report this",
          ["rule": rule, "ride": settlement.rideID.text, "slots": "\(tally)"])
      }
    }
  }

  /// Waits for the rides in flight; true where there were none to wait for.
  private func finishFlights() async -> Bool {
    if state.withLock({ $0.flights.count == 0 }) { return true }
    while state.withLock({ $0.flights.count > 0 }) { await roomBell.wait(on: parts.clock) }
    return false
  }

  /// The end of claiming: the transport gives what is in flight its time, and what it could not
  /// send goes back to the agenda, due at once.
  private func drain() async {
    isFree(.claiming)
    await parts.transport.close(within: settings.drainLimit)
    state.withLock { $0.isDrained = true }
    settleBell.ring()
  }
}
