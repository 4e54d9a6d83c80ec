import Base
import RideCore

// Lanes whose service answers nothing.
extension Lanes {
  /// Whether any lane may be silent, so that its open pushes must be checked.
  func mayBeSilent(at uptime: Duration) -> Bool {
    lanes.contains { $0.breaker.isSilent || $0.silence.mayBeSilent(at: uptime) }
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
      if let change = lanes[index].checkSilence(pushes, at: uptime, now: now) {
        changes.append((lanes[index].lane, change))
      }
      if lanes[index].isSilent { silent += pushes.filter { !lanes[index].isProbe($0.ticket) } }
    }
    return (changes, silent)
  }

  /// Returns how long a push that had no stream is deferred, because its lane is silent; nil if it
  /// is sent.
  ///
  /// A probe ends as well: there is no connection, and the next push after there is one probes.
  mutating func deferral(of ticket: UInt64, in lane: PushLane, at now: Timestamp) -> Duration? {
    let index = index(of: lane)
    guard lanes[index].isSilent else { return nil }
    if lanes[index].isProbe(ticket) {
      if lanes[index].breaker.cause == .refused { return nil }
      _ = lanes[index].breaker.recordSilence(unanswered: 1, at: now)
    }
    return min(
      lanes[index].breaker.wait(at: now) ?? LaneSilence.limit, Self.longestHold(.unreachable))
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
        isProbe($0.ticket) && uptime - $0.sentAt >= silence.limit(at: uptime)
      }
      return isOverdue ? breaker.recordSilence(unanswered: 1, at: now) : nil
    }
    if breaker.isPaused { return nil }
    guard silence.observe(pushes.map(\.sentAt), at: uptime) else { return nil }
    return breaker.recordSilence(unanswered: pushes.count, at: now)
  }
}
