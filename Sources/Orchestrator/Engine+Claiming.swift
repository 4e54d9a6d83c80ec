import Base
import RideCore
import Synchronization

// The claim loop, and its rests between claims.
extension Engine {
  func claimUntilStopped() async {
    var pollPolicy = PollPolicy(pollInterval: settings.pollInterval)
    var restDetector = RestDetector()
    var failures = 0
    while !isStopping {
      do {
        try await adopt()
        await perform(try await claimNext(&pollPolicy, &restDetector))
        failures = 0
      } catch {
        let isNew = recordFailure(error, of: .claim)
        if halveClaimSize(after: error, isNew) { continue }
        await rest(after: error, failures, isNew)
        failures += 1
      }
    }
  }

  /// Claims until no ride is due and all claimed rides are finished.
  func claimAll() async throws {
    try await adopt()
    while !isStopping {
      if isHalted { _ = try await finishInFlight() }
      do {
        let limit = await waitForCapacity()
        let claim = try await claim(limit: limit, asleep: false)
        recordClaim(claim)
        if claim.hasLostClaims {
          if try await claimLostApart() == 0 {
            await claimSignal.wait(atMost: settings.pollInterval, on: parts.clock)
          }
          continue
        }
        if claim.rides.isEmpty, claim.released == 0, try await finishInFlight() { return }
      } catch {
        if !halveClaimSize(after: error, true) { throw error }
      }
    }
  }

  /// Reschedules live rides if schedule rules have changed.
  ///
  /// Unless the store is unavailable, a failure is retried after a while: claims already use the
  /// new rules, and do not wait.
  private func adopt() async throws {
    let (configuration, revision, adoptedRevision, notBefore) = state.withLock {
      ($0.configuration, $0.revision, $0.adoptedRevision, $0.retryAdoptionAt)
    }
    if revision == adoptedRevision || time.uptime() < notBefore { return }
    // Rescheduling reads all live rides, page by page, so its duration is not bounded.
    suspend(.claiming)
    let rides: Int
    do {
      rides = try await parts.store.adopt(configuration.allRules)
    } catch let failure as StoreFailure where failure.cause != .unavailable {
      let uptime = time.uptime()
      let isNew = state.withLock { state in
        state.retryAdoptionAt = uptime + Self.failing.longest
        return state.rescheduling.failed(failure, at: uptime)
      }
      guard isNew else { return }
      return parts.log(.warning, .reschedulingFailed, ["error": failure.description])
    }
    let uptime = time.uptime()
    state.withLock { state in
      state.adoptedRevision = revision
      _ = state.rescheduling.succeeded(at: uptime)
    }
    if rides > 0 {
      parts.log(.info, .reschedulingRides, ["rides": rides])
    }
  }

  private func claimNext(
    _ pollPolicy: inout PollPolicy, _ restDetector: inout RestDetector
  ) async throws -> PollPolicy.Step {
    guard case .claim(let asleep) = pollPolicy.claim else { return .rest(atMost: .zero) }
    await waitWhileHalted()
    if isStopping { return .rest(atMost: .zero) }
    let limit = await waitForCapacity()
    beginTurn(.claiming)
    begin(.claim)
    let now = time.uptime()
    if let last = state.withLock({ $0.lastClaim }) { pollPolicy.passed(now - last.at) }
    let claim = try await claim(limit: limit, asleep: asleep)
    recordClaim(claim)
    if claim.hasLostClaims { await claimLostUnlessFailing() }
    let held = state.withLock { $0.inFlight.count }
    if restDetector.claimed(claim.rides.count, held: held, at: time.uptime()) {
      state.withLock { $0.inFlight.releaseUnused() }
      parts.onRest()
    }
    return pollPolicy.claimed(
      claim.rides.count, of: claim.released > 0 ? claim.rides.count : limit,
      isNotified: claim.isNotified, untilDue: claim.nextDue.map { $0 - claim.now })
  }

  /// Claims rides whose last claim ended with its node, once no other ride is in flight: what is in
  /// flight when a node ends waits for the lease.
  ///
  /// - Returns: The number of rides claimed.
  private func claimLostApart() async throws -> Int {
    let limit = time.uptime() + settings.apartWithin
    while state.withLock({ $0.inFlight.count > 0 }), time.uptime() < limit, !isStopping {
      await capacitySignal.wait(atMost: limit - time.uptime(), on: parts.clock)
    }
    if isStopping || isHalted || isAside { return 0 }
    beginTurn(.claiming)
    return try await claimLost()
  }

  /// Claims lost rides, unless that failed a short while ago: other rides do not wait for it.
  private func claimLostUnlessFailing() async {
    let uptime = time.uptime()
    if state.withLock({ uptime < $0.retryLostAt }) { return }
    do {
      begin(.claimLost)
      _ = try await claimLostApart()
      recordSuccess(of: .claimLost)
      state.withLock { $0.retryLostAt = .zero }
    } catch {
      let uptime = time.uptime()
      state.withLock { $0.retryLostAt = uptime + Self.failing.longest }
      guard recordFailure(error, of: .claimLost) else { return }
      parts.log(.error, .lostClaimFailed, ["error": "\(error)"])
    }
  }

  /// Waits while settlements fail, or while another node sends in place of this one: nothing is
  /// claimed that could not be settled or sent.
  private func waitWhileHalted() async {
    if isHalted || isAside { state.withLock { $0.calls[.claim]?.pause() } }
    while isHalted || isAside, !isStopping {
      beginTurn(.claiming)
      await claimSignal.wait(atMost: .seconds(1), on: parts.clock)
    }
  }

  private func perform(_ step: PollPolicy.Step) async {
    guard case .rest(let limit) = step, !isStopping else { return }
    beginTurn(.claiming)
    await claimSignal.wait(atMost: limit, on: parts.clock)
    let isOnlyMissed = state.withLock { state in
      defer { (state.mayHaveMissed, state.isWoken) = (false, false) }
      return state.mayHaveMissed && !state.isWoken
    }
    // On a busy node, the next notification comes within this time, and one claim serves both.
    if isOnlyMissed { await claimSignal.wait(atMost: settings.missedDelay, on: parts.clock) }
  }

  /// Waits until there is capacity for a batch worth its round trips; returns how many rides may be
  /// claimed.
  private func waitForCapacity() async -> Int {
    let batch = min(settings.batch, settings.maximumInFlight)
    while true {
      let (held, bytes, size, stopping) = state.withLock {
        ($0.inFlight.count, $0.heldBytes, $0.claimSize.size, $0.isStopping)
      }
      let capacity = min(batch, settings.maximumInFlight - held)
      if stopping || (capacity >= batch / 2 && bytes < settings.maximumText) {
        return max(min(capacity, size), 1)
      }
      beginWait(.claiming)
      await capacitySignal.wait(on: parts.clock)
    }
  }

  private func recordClaim(_ claim: Claim) {
    recordSuccess(of: .claim)
    state.withLock { $0.claimSize.worked(claim.rides.count) }
  }

  /// Halves the claim size after a claim that timed out or could not be read; the claim is repeated
  /// at once.
  ///
  /// - Returns: false if the failure has another cause, or if the size cannot be reduced further.
  private func halveClaimSize(after error: any Error, _ isNew: Bool) -> Bool {
    guard let failure = error as? StoreFailure else { return false }
    switch failure.cause {
    case .unavailable, .conflict: return false
    case .timeout, .values, .refused: break
    }
    let (before, after) = state.withLock { state in
      let before = state.claimSize.size
      state.claimSize.timedOut(before)
      return (before, state.claimSize.size)
    }
    if after == before { return false }
    if !isNew { return true }
    parts.log(.warning, .claimReduced, ["rides": after, "error": failure.description])
    return true
  }

  private func rest(after error: any Error, _ failures: Int, _ isNew: Bool) async {
    let delay = Self.failing.delay(failures: failures, random: Double.random(in: 0.1..<1))
    beginTurn(.claiming)
    if isNew { parts.log(.warning, .claimFailed, ["error": "\(error)"]) }
    await claimSignal.wait(atMost: delay, on: parts.clock)
  }

  /// Waits for the rides in flight; returns true if there were none.
  ///
  /// - Throws: the settlement failure, once it has lasted longer than `haltLimit`.
  private func finishInFlight() async throws -> Bool {
    if state.withLock({ $0.inFlight.count == 0 }) { return true }
    while state.withLock({ $0.inFlight.count > 0 }) {
      await capacitySignal.wait(atMost: .seconds(1), on: parts.clock)
      let uptime = time.uptime()
      if let halt = state.withLock({ $0.settling.halt }), uptime - halt.since > settings.haltLimit {
        throw halt.failure
      }
    }
    return false
  }
}
