import Base
import RideCore

// Lanes whose service answers nothing.
extension Lanes {
  /// The time between checks after which this process itself stood still.
  private static let stall: Duration = .seconds(1)

  /// Begins a check; returns whether any lane may be silent, so that its open pushes must be checked.
  ///
  /// None may be if this process stood still: the answers of that time have not been read yet.
  mutating func beginSilenceCheck(at uptime: Duration) -> Bool {
    let isStalled = silenceCheckedAt.map { uptime - $0 > Self.stall } ?? false
    silenceCheckedAt = uptime
    if isStalled { return false }
    return lanes.contains { $0.breaker.isSilent || $0.silence.mayBeSilent(at: uptime) }
  }

  /// Opens the breakers of lanes whose service answers nothing.
  ///
  /// - Parameter open: all pushes without an outcome.
  /// - Returns: the changes of breakers, and the pushes that no ride should wait for.
  mutating func checkSilence(
    _ open: [InFlight.OpenPush], at uptime: Duration, now: Timestamp
  ) -> (changes: [(PushLane, CircuitBreaker.Change)], silent: [InFlight.OpenPush]) {
    var changes: [(PushLane, CircuitBreaker.Change)] = []
    var silent: [InFlight.OpenPush] = []
    for index in lanes.indices where !lanes[index].lane.isOfPosts {
      let pushes = open.filter { $0.lane == lanes[index].lane }
      let isNew = !lanes[index].breaker.isSilent
      if let change = lanes[index].checkSilence(pushes, at: uptime, now: now) {
        if isNew { lanes[index].silentSince = uptime }
        changes.append((lanes[index].lane, change))
      }
      if lanes[index].isSilent { silent += pushes.filter { !lanes[index].isProbe($0.ticket) } }
    }
    return (changes, silent)
  }

  /// Whether a push of a silent lane is in flight as a probe.
  var isProbingSilence: Bool {
    lanes.contains { $0.breaker.isSilent && $0.breaker.isProbing }
  }

  /// Returns how long a push that had no stream is deferred, because its lane is silent, and the
  /// change of the breaker, if any; nil if the push is sent.
  ///
  /// A probe ends as well. If there is no connection, the next push after there is one probes.
  mutating func deferral(
    of ticket: UInt64, in lane: PushLane, isConnected: Bool, at now: Timestamp
  ) -> (wait: Duration, change: CircuitBreaker.Change?)? {
    let index = index(of: lane)
    guard lanes[index].isSilent else { return nil }
    var change: CircuitBreaker.Change?
    if lanes[index].isProbe(ticket) {
      if lanes[index].breaker.cause == .refused { return nil }
      change = lanes[index].breaker.recordSilence(unanswered: 1, at: now)
    }
    if !isConnected { _ = lanes[index].breaker.observe(isConnected: false, at: now) }
    let wait = lanes[index].breaker.wait(at: now) ?? LaneSilence.limit
    return (min(wait, Self.longestHold(.unreachable)), change)
  }

  /// Records the late outcome of a push that its ride does not wait for; returns the change of the
  /// breaker, if any.
  mutating func record(
    late outcome: PushOutcome, of push: WithdrawnPushes.Push, at uptime: Duration, now: Timestamp
  ) -> CircuitBreaker.Change? {
    guard outcome.isAnswer else { return nil }
    let index = index(of: push.lane)
    lanes[index].silence.answered(sentAt: push.sentAt, at: uptime)
    return lanes[index].breaker.isSilent ? lanes[index].breaker.record(outcome, at: now) : nil
  }
}

extension Lanes.Lane {
  /// Whether rides of other services must not wait for the lane's pushes.
  fileprivate var isSilent: Bool { breaker.isSilent || silence.isSilent }

  fileprivate func isProbe(_ ticket: UInt64) -> Bool { breaker.isProbing && probe == ticket }

  fileprivate mutating func checkSilence(
    _ pushes: [InFlight.OpenPush], at uptime: Duration, now: Timestamp
  ) -> CircuitBreaker.Change? {
    if breaker.isProbing {
      // After refusals a probe may take its time: a late refusal would otherwise close the breaker.
      if breaker.cause == .refused { return nil }
      let isOverdue = pushes.contains {
        isProbe($0.ticket) && uptime - $0.sentAt - $0.held >= silence.limit
      }
      return isOverdue ? breaker.recordSilence(unanswered: 1, at: now) : nil
    }
    if breaker.isPaused { return nil }
    guard silence.observe(pushes, at: uptime) else { return nil }
    return breaker.recordSilence(unanswered: pushes.count, at: now)
  }
}
