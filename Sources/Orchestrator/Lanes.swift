import RideCore

/// The lanes of a node: one for each app in each of Apple's worlds.
struct Lanes {
  struct Lane: Hashable {
    var environment: APNsEnvironment
    var app: String
  }

  private var breakers: [(lane: Lane, breaker: CircuitBreaker)] = []

  /// Parts pushes that may go from those that must wait; these end at once.
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

  /// Takes note of how a push ended; returns what that has changed.
  mutating func record(
    _ outcome: PushOutcome, of lane: Lane, at now: Timestamp
  ) -> (Lane, CircuitBreaker.Change)? {
    let change = breakers[index(of: lane.environment, lane.app)].breaker.record(outcome, at: now)
    return change.map { (lane, $0) }
  }

  /// How things stand with each.
  var statistics: [EngineStatistics.Lane] {
    breakers.map { lane, breaker in
      EngineStatistics.Lane(
        environment: lane.environment, app: lane.app, isPaused: breaker.isPaused)
    }
  }

  /// There is a handful of lanes: to look along them is quicker than to hash.
  private mutating func index(of environment: APNsEnvironment, _ app: String) -> Int {
    let known = breakers.firstIndex {
      $0.lane.environment == environment && $0.lane.app == app
    }
    if let known { return known }
    breakers.append((Lane(environment: environment, app: app), CircuitBreaker()))
    return breakers.count - 1
  }
}
