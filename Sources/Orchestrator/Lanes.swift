import RideCore

/// The lanes of a node: one for each app in each APNs environment.
struct Lanes {
  struct Lane: Hashable {
    var environment: APNsEnvironment
    var app: String
  }

  private var breakers: [(lane: Lane, breaker: CircuitBreaker)] = []

  /// Separates pushes that may be sent from those of paused lanes, which end at once.
  mutating func admit(_ requests: [PushRequest], at now: Timestamp)
    -> (go: [PushRequest], paused: [PushReport])
  {
    var paused: [PushReport] = []
    var go: [PushRequest] = []
    go.reserveCapacity(requests.count)
    for request in requests {
      let index = index(of: request.environment, request.lane)
      switch breakers[index].breaker.admit(at: now) {
      case .go: go.append(request)
      case .wait(let until):
        paused.append(
          PushReport(ticket: request.ticket, outcome: .unsent(.paused(for: until - now))))
      }
    }
    return (go, paused)
  }

  /// Records the outcome of a push; returns the lane and the change of its breaker, if any.
  mutating func record(
    _ outcome: PushOutcome, of lane: Lane, at now: Timestamp
  ) -> (Lane, CircuitBreaker.Change)? {
    let change = breakers[index(of: lane.environment, lane.app)].breaker.record(outcome, at: now)
    return change.map { (lane, $0) }
  }

  /// The state of each lane.
  var statistics: [EngineStatistics.Lane] {
    breakers.map { lane, breaker in
      EngineStatistics.Lane(
        environment: lane.environment, app: lane.app, isPaused: breaker.isPaused)
    }
  }

  /// Finds the lane by a linear search, which is faster than hashing for a handful of lanes.
  private mutating func index(of environment: APNsEnvironment, _ app: String) -> Int {
    let known = breakers.firstIndex {
      $0.lane.environment == environment && $0.lane.app == app
    }
    if let known { return known }
    breakers.append((Lane(environment: environment, app: app), CircuitBreaker()))
    return breakers.count - 1
  }
}
