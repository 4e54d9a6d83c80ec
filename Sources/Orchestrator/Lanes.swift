import RideCore

/// The lanes of a node: one for each app in each APNs environment.
struct Lanes {
  private struct Lane {
    let lane: PushLane
    var breaker = CircuitBreaker()
    var tokens = TokenSuspicion()
  }

  private var lanes: [Lane] = []

  /// The lanes in which refusals of tokens may be due to the configuration.
  var doubtful: Set<PushLane> {
    var doubtful: Set<PushLane> = []
    for lane in lanes where lane.tokens.isOfConfiguration { doubtful.insert(lane.lane) }
    return doubtful
  }

  /// Separates pushes that may be sent from those of paused lanes, which end at once.
  mutating func admit(_ requests: [PushRequest], at now: Timestamp)
    -> (go: [PushRequest], paused: [PushReport])
  {
    var paused: [PushReport] = []
    var go: [PushRequest] = []
    go.reserveCapacity(requests.count)
    for request in requests {
      let index = index(
        of: PushLane(environment: request.environment, app: App(rawValue: request.lane)))
      switch lanes[index].breaker.admit(at: now) {
      case .go: go.append(request)
      case .wait(let until):
        paused.append(
          PushReport(ticket: request.ticket, outcome: .unsent(.paused(for: until - now))))
      }
    }
    return (go, paused)
  }

  /// Records the outcome of a push; returns the change of the lane's breaker, if any.
  mutating func record(
    _ outcome: PushOutcome, of lane: PushLane, to owner: TokenOwner, at now: Timestamp
  ) -> CircuitBreaker.Change? {
    let index = index(of: lane)
    if case .phone(let phone) = owner { lanes[index].tokens.record(outcome, of: phone) }
    return lanes[index].breaker.record(outcome, to: owner, at: now)
  }

  /// The state of each lane.
  var statistics: [EngineStatistics.Lane] {
    lanes.map { lane in
      EngineStatistics.Lane(
        environment: lane.lane.environment, app: lane.lane.app.rawValue,
        isPaused: lane.breaker.isPaused)
    }
  }

  /// Finds the lane by a linear search, which is faster than hashing for a handful of lanes.
  private mutating func index(of lane: PushLane) -> Int {
    if let known = lanes.firstIndex(where: { $0.lane == lane }) { return known }
    lanes.append(Lane(lane: lane))
    return lanes.count - 1
  }
}
