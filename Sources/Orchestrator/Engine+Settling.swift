import Base
import RideCore
import Synchronization

// The settle loop, which writes the outcomes of rides as `SettlePolicy` decides.
extension Engine {
  func settleUntilDrained() async {
    while true {
      switch nextStep() {
      case .settle(let rides): await settle(rides)
      case .check: await check()
      case .park(let ride, let reason): await park(ride, reason)
      case .wait(let until):
        let giveUpAt = state.withLock { $0.giveUpAt }
        let now = time.uptime()
        if let giveUpAt, now >= giveUpAt { return endSettling() }
        beginTurn(.settling)
        await settleSignal.wait(atMost: min(until, giveUpAt ?? until) - now, on: parts.clock)
      case .idle:
        if state.withLock({ $0.isDrained && $0.inFlight.count == 0 }) { return endSettling() }
        beginWait(.settling)
        await settleSignal.wait(on: parts.clock)
      }
    }
  }

  /// Whether settlements fail, so that nothing is claimed or sent.
  var isHalted: Bool { state.withLock { $0.settling.halt != nil } }

  private func nextStep() -> SettlePolicy<HeldRide>.Step {
    let now = time.uptime()
    while true {
      let (step, finished, doubtful) = state.withLock { state in
        let step = state.settling.next(at: now)
        switch step {
        case .settle, .check, .park: return (step, [HeldRide](), Set<PushLane>())
        case .wait where state.settling.halt != nil: return (step, [], [])
        case .wait, .idle:
          let finished = state.inFlight.takeFinished(atMost: state.settleSize.size)
          return (step, finished, state.lanes.doubtful)
        }
      }
      if finished.isEmpty { return step }
      let at = time.now
      let rides = finished.map { ride in
        var ride = ride
        let outcomes = ride.settle(at: at, doubtful: doubtful)
        parts.onSent(ride.decision, outcomes)
        return ride
      }
      state.withLock { $0.settling.add(rides) }
    }
  }

  private func settle(_ rides: [HeldRide]) async {
    beginTurn(.settling)
    let began = time.uptime()
    do {
      let result = try await parts.store.settle(
        rides.map { ClaimedSettlement(claim: $0.claim, settlement: $0.decision.settlement) })
      let took = time.uptime() - began
      if !result.lost.isEmpty {
        parts.log(.warning, .leasesLostBeforeSettling, ["rides": result.lost.count])
      }
      let locked = Set(result.locked)
      let unwritten = locked.union(result.lost)
      let settled = rides.filter { !unwritten.contains($0.claim) }
      let written = settled.map(\.decision.settlement)
      audit(written)
      parts.onSettled(written)
      if let onSpans = parts.onSpans { onSpans(settled.flatMap(\.spans)) }
      state.withLock { state in
        state.settleSize.worked(rides.count)
        state.settleTimes.add(took)
      }
      freeCapacity(advance { $0.settled(at: $1) { locked.contains($0.claim) } })
    } catch {
      let failure = Self.failure(error)
      if failure.cause == .timeout { state.withLock { $0.settleSize.timedOut(rides.count) } }
      let random = Double.random(in: 0.1..<1)
      advance { $0.failed(failure, at: $1, random: random) }
    }
  }

  private func check() async {
    beginTurn(.settling)
    do {
      try await parts.store.checkSettling()
      advance { $0.checked(at: $1) }
    } catch {
      let failure = Self.failure(error)
      let random = Double.random(in: 0.1..<1)
      advance { $0.checkFailed(failure, at: $1, random: random) }
    }
  }

  private func park(_ ride: HeldRide, _ reason: String) async {
    beginTurn(.settling)
    do {
      try await parts.store.park(ride.claim, reason: reason)
      parts.log(
        .error, .rideParkedBySettlement,
        [
          "ride": ride.claim.rideID.text, "reason": reason,
          "action": "fix the cause, then run: ridepulse unpark RIDE",
        ])
      freeCapacity(advance { policy, _ in policy.parked() })
    } catch {
      let failure = Self.failure(error)
      let random = Double.random(in: 0.1..<1)
      advance { $0.parkFailed(failure, at: $1, random: random) }
    }
  }

  static func failure(_ error: any Error) -> StoreFailure {
    (error as? StoreFailure) ?? StoreFailure(.unavailable, "\(error)")
  }

  /// Frees capacity for other rides after these were settled, parked or lost.
  private func freeCapacity(_ rides: [HeldRide]) {
    if rides.isEmpty { return }
    // A claim that ran while a ride was held skipped its new events, and their NOTIFY has been
    // consumed; and no claim has the time at which a ride that was held is due next.
    let soon = time.now + settings.pollInterval
    let mayHaveMissed = state.withLock { state in
      state.inFlight.settled(rides.count)
      state.heldBytes -= rides.reduce(0) { $0 + $1.textBytes }
      let mayHaveMissed = rides.contains { ride in
        ride.claimNumber < state.claims
          || ride.decision.settlement.nextDue.map { $0 < soon } ?? false
      }
      if mayHaveMissed { state.mayHaveMissed = true }
      return mayHaveMissed
    }
    if mayHaveMissed { claimSignal.notify() }
    capacitySignal.notify()
  }

  /// Logs rules whose slots do not add up: each slot has exactly one outcome, so a remainder is a
  /// bug.
  private func audit(_ settlements: [Settlement]) {
    for settlement in settlements {
      for (rule, tally) in settlement.tallies where tally.remainder != 0 {
        parts.log(
          .error, .slotCountsWrong,
          ["rule": rule, "ride": settlement.rideID.text, "slots": "\(tally)"])
      }
    }
  }

  private func endSettling() {
    let left = state.withLock { state in
      state.hasSettled = true
      return state.inFlight.count
    }
    suspend(.settling)
    for signal in [renewSignal, recipientSignal, reachSignal, silenceSignal] { signal.notify() }
    if left > 0 {
      parts.log(.error, .ridesLeftByStop, ["rides": left])
    }
  }
}
