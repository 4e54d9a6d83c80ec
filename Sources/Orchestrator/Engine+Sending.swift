import Base
import RideCore
import Synchronization

// The path from due rides to pushes in flight.
extension Engine {
  /// Claims rides, decides them, and submits their pushes to the transport.
  func claim(limit: Int, asleep: Bool) async throws -> Claim {
    try await handle { try await parts.store.claim(limit: limit, asleep: asleep) }
  }

  /// Claims rides whose last claim ended with its node, apart from others: one of them may end this
  /// node, too.
  ///
  /// - Returns: The number of rides claimed.
  func claimLost() async throws -> Int {
    let lost = try await handle(isLost: true) { try await parts.store.claimLost() }
    if lost.hasLostClaims { claimSignal.notify() }
    return lost.rides.count
  }

  private func handle(
    isLost: Bool = false, _ claim: () async throws -> Claim
  ) async throws -> Claim {
    let claimNumber: UInt64
    var configuration: EngineConfiguration
    (claimNumber, configuration) = state.withLock { state in
      state.claims += 1
      return (state.claims, state.configuration)
    }
    let requestedAt = time.uptime()
    let claim = try await claim()
    let took = time.uptime() - requestedAt
    state.withLock { $0.claimTimes.add(took) }
    record(ahead: time.record(claim.now, requestedAt: requestedAt))
    if claim.rides.isEmpty { return claim }
    // The claim reads for the rules of its request, and finds newer pauses.
    configuration.pauses = state.withLock { $0.configuration.pauses }
    if isHalted || isAside {
      await releaseClaim(claim)
      return Claim(now: claim.now, nextDue: claim.nextDue, rides: [])
    }
    // Rides are decided as of the time they were read, unless the answer waited while the machine
    // slept.
    let now = time.earliest - claim.now > .seconds(1) ? time.earliest : claim.now
    let freshUntil = time.now + PushRequest.freshness
    if isLost { try await recordOrRelease(claim) { try await parts.store.recordDeciding($0) } }
    var decisions = decide(claim.rides, by: configuration, now: now)
    // Their rides are released, and the process ends.
    if parts.decisionWatch.isAbandoned { return claim }
    logUnknownWords(decisions)
    let gone =
      isLost ? try await recordOrRelease(claim) { try await parts.store.recordDecided($0) } : []
    var blocked = await askForPermits(&decisions, by: configuration, now: now).union(gone)
    if parts.decisionWatch.isAbandoned { return claim }
    blocked.formUnion(await journal(decisions.filter { !blocked.contains($0.0.rideID) }, now: now))
    let passed = time.uptime() - requestedAt
    if passed > settings.sendWithin {
      // The machine or the database was suspended: other nodes may claim these rides when their
      // lease ends.
      parts.log(.warning, .ridesLeftByAge, ["rides": decisions.count, "passed": passed])
      return claim
    }
    // Which rides are timed is computed without the lock, which reports of answers wait for.
    let isTimed = parts.recording != nil || parts.onSpans != nil
    let times = isTimed ? decisions.map { self.times(of: $0.1, configuration, at: now) } : []
    let (requests, hasFinished) = state.withLock { state in
      var requests: [PushRequest] = []
      requests.reserveCapacity(decisions.count)
      for (index, (claim, decision)) in decisions.enumerated()
      where !blocked.contains(claim.rideID) {
        requests += state.inFlight.add(
          claim, decision, claimNumber: claimNumber, deadline: requestedAt + settings.followWithin,
          freshUntil: freshUntil, times: times.isEmpty ? nil : times[index])
        state.heldBytes += decision.view.textBytes
      }
      return (requests, state.inFlight.hasFinished)
    }
    if hasFinished { settleSignal.notify() }
    submit(requests, at: now)
    return claim
  }

  /// Records something of a claim, and releases the claim if that fails: a release is no end of a
  /// node.
  private func recordOrRelease<Value>(
    _ claim: Claim, _ record: ([RideClaim]) async throws -> Value
  ) async throws -> Value {
    do {
      return try await record(claim.rides.map(\.claim))
    } catch {
      await releaseClaim(claim)
      throw error
    }
  }

  func decide(
    _ rides: [(claim: RideClaim, view: RideView)], by configuration: EngineConfiguration,
    now: Timestamp
  ) -> [(RideClaim, Decision)] {
    let watch = parts.decisionWatch
    watch.begin(rides.map(\.claim))
    defer { watch.end() }
    return rides.enumerated().map { index, ride in
      watch.beginTurn(index)
      parts.onDecide?(ride.view)
      let own = configuration.deciding(ride.view.rideID)
      return (ride.claim, RideCore.decide(ride.view, by: own, now: now))
    }
  }

  /// Returns where to record the times of a ride's pushes; nil for a ride that is neither recorded
  /// nor traced.
  private func times(
    of decision: Decision, _ configuration: EngineConfiguration, at now: Timestamp
  ) -> PassTimes? {
    let sample = parts.recording.flatMap { $0.contains(decision.view.rideID) ? $0 : nil }
    let isTraced = parts.onSpans != nil && decision.isTraced
    if sample == nil, !isTraced { return nil }
    let revision = [configuration.revision, configuration.trial?.revision]
      .compactMap(\.self).first { $0.id == decision.settlement.revision }
    return PassTimes(
      decidedAt: now, sample: sample, rules: isTraced ? revision?.rules : nil,
      pushes: decision.pushes.count, at: time.uptime())
  }

  /// Logs each state and event that no rule file declares, once for a configuration.
  private func logUnknownWords(_ decisions: [(RideClaim, Decision)]) {
    for (claim, decision) in decisions {
      for entry in decision.ended where entry.rule.isEmpty {
        let word = entry.event.name
        let isNew = state.withLock { state in
          state.unknownWords.count < Self.loggedWords && state.unknownWords.insert(word).inserted
        }
        guard isNew, let reason = entry.reason else { continue }
        parts.log(
          .warning, .unknownWordIgnored, ["reason": reason.text, "ride": claim.rideID.text])
      }
    }
  }

  /// The maximum number of undeclared words that are logged.
  private static let loggedWords = 1000

  /// Logs once when this machine's clock and the database's diverge, and once when they agree
  /// again.
  private func record(ahead: Duration) {
    let isOff = abs(ahead.microseconds) > settings.toleratedSkew.microseconds
    let at = time.uptime()
    let hasChanged = state.withLock { state in
      state.lastClaim = (at, ahead)
      defer { state.isClockOff = isOff }
      return state.isClockOff != isOff
    }
    guard hasChanged else { return }
    if isOff {
      parts.log(.warning, .databaseClockDiffers, ["database_ahead": ahead])
    } else {
      parts.log(.info, .databaseClockAgrees)
    }
  }

  /// Submits pushes to the transport, except those of paused lanes.
  ///
  /// A transport may report outcomes while it accepts pushes; the pushes that follow from them are
  /// submitted by the call in progress, regardless of the thread.
  func submit(_ requests: [PushRequest], at now: Timestamp) {
    if requests.isEmpty { return }
    let isFirst = state.withLock { state in
      state.outbox += requests
      defer { state.isSubmitting = true }
      return !state.isSubmitting
    }
    if !isFirst { return }
    while let (go, paused) = takeOutbox(at: now) {
      if !paused.isEmpty { record(paused) }
      if !go.isEmpty {
        parts.transport.submit(go) { [weak self] reports in self?.record(reports) }
      }
    }
  }

  private func takeOutbox(at now: Timestamp) -> (go: [PushRequest], paused: [PushReport])? {
    let latest = time.now
    let uptime = time.uptime()
    let (taken, isOutdated, isFirst) = state.withLock {
      state -> (([PushRequest], [PushReport])?, Bool, Bool) in
      if state.outbox.isEmpty {
        state.isSubmitting = false
        return (nil, false, false)
      }
      var requests = state.outbox
      state.outbox = []
      let isOutdated = requests.contains { $0.isOutdated(at: latest) }
      if isOutdated {
        state.outdated += requests.filter { $0.isOutdated(at: latest) }
          .map { OutdatedPush(request: $0, since: uptime) }
        requests.removeAll { $0.isOutdated(at: latest) }
      }
      let (go, paused) = state.lanes.admit(requests, at: now)
      state.inFlight.sent(go, at: uptime)
      let isFirst = !state.isWatchingSilence && !go.isEmpty
      if isFirst { state.isWatchingSilence = true }
      // The other pushes are for another node, as long as the probe has no answer.
      if !go.isEmpty, state.lanes.isProbingSilence { reachSignal.notify() }
      return ((go, paused), isOutdated, isFirst)
    }
    if isOutdated { recipientSignal.notify() }
    if isFirst { silenceSignal.notify() }
    return taken.map { (go: $0.0, paused: $0.1) }
  }

  func record(_ all: [PushReport]) {
    let reports = removeOutdated(all)
    if reports.isEmpty { return }
    let now = time.now
    let uptime = time.uptime()
    let (changes, next, hasFinished) = state.withLock { state in
      let changes = reports.compactMap { report in
        state.recordInLane(report, at: uptime, now: now)
      }
      // Nothing is sent that could not be settled.
      let mayFollow = !state.isStopping && state.settling.halt == nil
      let next = state.inFlight.record(
        reports, at: mayFollow ? uptime : nil, answered: uptime)
      return (changes, next, state.inFlight.hasFinished)
    }
    for (outcome, lane, change) in changes { logLaneChange(lane, change, outcome, at: now) }
    if hasFinished { settleSignal.notify() }
    submit(next, at: now)
  }

  func logLaneChange(
    _ lane: PushLane, _ change: CircuitBreaker.Change, _ outcome: PushOutcome, at now: Timestamp
  ) {
    switch change {
    case .paused(let until, let problems, let count, let cause):
      let fields: Log.Fields = [
        "app": lane.app.rawValue, "environment": lane.network.rawValue,
        "last": "\(outcome.reason)",
        "failures": problems, "pushes": count, "for": until - now,
      ]
      if lane.isOfPosts {
        return parts.log(.error, .receiverPaused, fields)
      }
      let isConnected = parts.transport.reachability()[lane.network] == .connected
      parts.log(.error, lane.network.pauseEvent(cause, outcome, isConnected), fields)
      if cause == .unreachable { reachSignal.notify() }
    case .resumed:
      parts.log(
        .info, .laneResumed, ["app": lane.app.rawValue, "environment": lane.network.rawValue])
      reachSignal.notify()
    }
  }
}

extension Engine.State {
  /// Records the outcome of a push in its lane; returns the change of the breaker, if any.
  mutating func recordInLane(
    _ report: PushReport, at uptime: Duration, now: Timestamp
  ) -> (PushOutcome, PushLane, CircuitBreaker.Change)? {
    if let late = inFlight.removeWithdrawn(report.ticket) {
      return lanes.record(late: report.outcome, of: late, at: uptime, now: now)
        .map { (report.outcome, late.lane, $0) }
    }
    return inFlight.target(of: report.ticket).flatMap { lane, owner, sentAt in
      lanes.record(
        report.outcome, of: lane, to: owner, at: now, times: sentAt.map { ($0, uptime) }
      ).map { (report.outcome, lane, $0) }
    }
  }
}

extension PushNetwork {
  /// Returns what the log records about a paused lane.
  fileprivate func pauseEvent(
    _ cause: PauseCause, _ last: PushOutcome, _ isConnected: Bool
  ) -> LogEvent {
    let isOfFCM = self == .android
    switch cause {
    case .refused where last.pauseOfLane != nil:
      return .lanePausedByQuota
    case .refused:
      return isOfFCM ? .laneRefusedByFCM : .laneRefusedByAPNs
    case .unreachable where isConnected:
      return isOfFCM ? .lanePausedBySilentFCM : .lanePausedBySilentAPNs
    case .unreachable:
      return isOfFCM ? .lanePausedWithoutFCM : .lanePausedWithoutAPNs
    }
  }
}
