package import RideCore
import Synchronization

/// The ride that the engine decides now, for a thread that notices a decision that does not return.
///
/// A decision has no await and can't be cancelled: only the end of the process ends it.
package final class DecisionWatch: Sendable {
  /// A decision that has begun and not ended.
  package struct Turn: Equatable, Sendable {
    package var ride: RideID
    /// Differs between any two decisions.
    package var number: UInt64
  }

  private struct State {
    /// The rides of the claim, in the order of their decisions.
    var claims: [RideClaim] = []
    var index: Int?
    var number: UInt64 = 0
    var isAbandoned = false
  }

  private let state = Mutex(State())

  func begin(_ claims: [RideClaim]) {
    state.withLock { $0.claims = claims }
  }

  func beginTurn(_ index: Int) {
    state.withLock { state in
      state.index = index
      state.number &+= 1
    }
  }

  func end() {
    state.withLock { state in
      state.index = nil
      state.claims = []
    }
  }

  package var turn: Turn? {
    state.withLock { state in
      state.index.map { Turn(ride: state.claims[$0].rideID, number: state.number) }
    }
  }

  /// Abandons the claim of a decision that has stalled: nothing of it is sent, even if the decision
  /// returns after all.
  ///
  /// - Returns: Whether the decision has still not returned.
  package func abandon(_ turn: Turn) -> Bool {
    state.withLock { state in
      guard state.index != nil, state.number == turn.number else { return false }
      state.isAbandoned = true
      return true
    }
  }

  /// Whether nothing more of the current claim may be sent: the process is about to end.
  var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

  /// The rides of the current claim except the one that is decided now: nothing of them has left.
  var others: [RideClaim] {
    state.withLock { state in
      guard let index = state.index else { return [] }
      return state.claims.indices.filter { $0 != index }.map { state.claims[$0] }
    }
  }
}

/// Decides whether a decision counts as one that does not return: a value without a clock.
///
/// It needs time by the clock and by the processor: on a machine that is starved or suspended a
/// decision may take any time, and other threads of the process use the processor, too.
package struct DecisionDeadline {
  /// The time after which a decision has stalled. All pushes of a claim take milliseconds.
  package static let limit: Duration = .seconds(5)

  private var seen: (turn: DecisionWatch.Turn, cpuTime: Duration, uptime: Duration)?

  package init() {}

  /// Returns the decision that has stalled; nil if there is none.
  package mutating func observe(
    _ turn: DecisionWatch.Turn?, cpuTime: Duration, uptime: Duration
  ) -> DecisionWatch.Turn? {
    guard let turn else {
      seen = nil
      return nil
    }
    guard let seen, seen.turn == turn else {
      self.seen = (turn, cpuTime, uptime)
      return nil
    }
    let hasStalled = cpuTime - seen.cpuTime > Self.limit && uptime - seen.uptime > Self.limit
    return hasStalled ? turn : nil
  }
}

// A decision that does not return.
extension Engine {
  /// What the engine decides now.
  package var decisionWatch: DecisionWatch { parts.decisionWatch }

  /// Releases the other rides of the claim, and waits until those in flight are settled.
  ///
  /// - Parameter limit: how long to wait for them.
  package func releaseOthers(within limit: Duration) async {
    let end = time.uptime() + limit
    let others = parts.decisionWatch.others
    if !others.isEmpty { try? await parts.store.release(others) }
    while state.withLock({ $0.inFlight.count > 0 }), time.uptime() < end {
      let rest = min(end - time.uptime(), .milliseconds(200))
      await capacitySignal.wait(atMost: rest, on: parts.clock)
    }
  }
}
