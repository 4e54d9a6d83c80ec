import Base
import RideCore
import Synchronization

// Services that answer nothing: a ride with recipients of another service does not wait for them.
extension Engine {
  /// How often lanes are checked while pushes are in flight.
  private static let silenceInterval: Duration = .milliseconds(250)

  /// Pauses silent lanes, and ends those of their pushes that recipients of other services wait for.
  func watchSilenceUntilSettled() async {
    while true {
      checkSilence()
      let (isWatching, hasSettled) = state.withLock { state in
        state.isWatchingSilence = state.inFlight.hasOpen
        return (state.isWatchingSilence, state.hasSettled)
      }
      if hasSettled { return }
      await silenceSignal.wait(atMost: isWatching ? Self.silenceInterval : nil, on: parts.clock)
    }
  }

  private func checkSilence() {
    let now = time.now
    let uptime = time.uptime()
    let (changes, hasFinished) = state.withLock { state in
      guard state.lanes.beginSilenceCheck(at: uptime) else {
        return ([(PushLane, CircuitBreaker.Change)](), false)
      }
      let (changes, silent) = state.lanes.checkSilence(
        state.inFlight.openPushes, at: uptime, now: now)
      if !silent.isEmpty {
        state.inFlight.withdraw(silent, handsOver: state.reach.isAside, at: uptime)
      }
      return (changes, state.inFlight.hasFinished)
    }
    for (lane, change) in changes { logLaneChange(lane, change, .unanswered(.timeout), at: now) }
    if hasFinished { settleSignal.notify() }
  }
}

extension Engine.State {
  /// Records that the transport had no stream for a push; returns the report that ends it, if a
  /// recipient of another service would wait for its silent lane, and how that changed the lane.
  ///
  /// - Parameter connected: the networks that have a connection.
  mutating func returned(
    _ ticket: UInt64, connected: Set<PushNetwork>, at uptime: Duration, now: Timestamp
  ) -> (report: PushReport, lane: PushLane, change: CircuitBreaker.Change?)? {
    inFlight.returned(ticket, at: uptime)
    guard let lane = inFlight.push(of: ticket)?.lane, inFlight.isAwaitedByOthers(ticket),
      let (wait, change) = lanes.deferral(
        of: ticket, in: lane, isConnected: connected.contains(lane.network), at: now)
    else { return nil }
    let paused = PushOutcome.unsent(.paused(for: wait, by: .unreachable))
    return (PushReport(ticket: ticket, outcome: paused), lane, change)
  }
}
