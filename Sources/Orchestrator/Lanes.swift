import Base
import RideCore

/// The lanes of a node: one for each app and network.
struct Lanes {
  struct Lane {
    let lane: PushLane
    var breaker = CircuitBreaker()
    var silence = LaneSilence()
    /// When the breaker last opened because nothing was answered, as uptime.
    var silentSince: Duration?
    /// The ticket of the breaker's last probe.
    var probe: UInt64?
    var tokens = TokenSuspicion()
    var answers = DurationHistogram()
    /// Whether an answer that a phone is gone counts: to a service account of another project, FCM
    /// answers so until it has accepted a push.
    var isProved: Bool

    init(_ lane: PushLane) {
      self.lane = lane
      isProved = lane.network != .android
    }

    /// Whether the refusal of a token may be due to the configuration.
    var isDoubtful: Bool { tokens.isOfConfiguration || !isProved }
  }

  var lanes: [Lane] = []
  /// When lanes were last checked for silence, as uptime.
  var silenceCheckedAt: Duration?

  /// The lanes in which refusals of tokens may be due to the configuration.
  var doubtful: Set<PushLane> {
    var doubtful: Set<PushLane> = []
    for lane in lanes where lane.isDoubtful { doubtful.insert(lane.lane) }
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
        of: PushLane(network: request.network, app: App(rawValue: request.lane)))
      // One that was admitted before may be the breaker's probe.
      if request.sendWithin != nil {
        go.append(request)
        continue
      }
      switch lanes[index].breaker.admit(at: now) {
      case .go:
        if lanes[index].breaker.isProbing { lanes[index].probe = request.ticket }
        go.append(request)
      case .wait(let until, let cause):
        let wait = min(until - now, Self.longestHold(cause))
        paused.append(
          PushReport(ticket: request.ticket, outcome: .unsent(.paused(for: wait, by: cause))))
      }
    }
    return (go, paused)
  }

  /// How long a push of a paused lane waits before it is tried again: the lane may resume earlier.
  static func longestHold(_ cause: PauseCause) -> Duration {
    switch cause {
    case .unreachable: .seconds(5)
    case .refused: .seconds(10)
    }
  }

  /// The networks of paused lanes that wait for a connection.
  var unreachable: Set<PushNetwork> {
    var networks: Set<PushNetwork> = []
    for lane in lanes where lane.breaker.cause == .unreachable && !lane.lane.isOfPosts {
      networks.insert(lane.lane.network)
    }
    return networks
  }

  /// Records whether networks have an open connection; returns the lanes that waited for one.
  mutating func observe(
    _ found: [PushNetwork: Reachability], at now: Timestamp
  ) -> [PushLane] {
    lanes.indices.filter { !lanes[$0].lane.isOfPosts }.filter {
      let isConnected = found[lanes[$0].lane.network] == .connected
      return lanes[$0].breaker.observe(isConnected: isConnected, at: now)
    }.map { lanes[$0].lane }
  }

  /// Closes the breakers of lanes whose credentials were replaced; returns those that were open.
  mutating func reset(
    at uptime: Duration = .zero, where isReplaced: (PushLane) -> Bool
  ) -> [PushLane] {
    let replaced = lanes.indices.filter { isReplaced(lanes[$0].lane) }
    for index in replaced {
      lanes[index].isProved = lanes[index].lane.network != .android
      lanes[index].silence.restart(at: uptime)
    }
    return replaced.filter { lanes[$0].breaker.isPaused }.map {
      lanes[$0].breaker = CircuitBreaker()
      return lanes[$0].lane
    }
  }

  /// Records the outcome of a push; returns the change of the lane's breaker, if any.
  ///
  /// - Parameter times: when it was sent and when it ended, as uptime; nil if it was not sent.
  mutating func record(
    _ outcome: PushOutcome, of lane: PushLane, to owner: TokenOwner, at now: Timestamp,
    times: (sentAt: Duration, endedAt: Duration)? = nil
  ) -> CircuitBreaker.Change? {
    // A burst waits for the node's few connections: that says nothing about the receiver.
    if lane.isOfPosts, outcome == .unsent(.queuedTooLong) { return nil }
    let index = index(of: lane)
    if case .phone(let phone) = owner { lanes[index].tokens.record(outcome, of: phone) }
    if outcome == .accepted { lanes[index].isProved = true }
    if let times, outcome.isAnswer {
      lanes[index].answers.add(times.endedAt - times.sentAt)
      lanes[index].silence.answered(sentAt: times.sentAt, at: times.endedAt)
    } else if let times, outcome == .unanswered(.timeout) {
      lanes[index].silence.timedOut(sentAt: times.sentAt, at: times.endedAt)
    }
    return lanes[index].breaker.record(
      outcome, to: owner, isProved: lanes[index].isProved, at: now)
  }

  /// The state of each lane.
  var statistics: [EngineStatistics.Lane] {
    lanes.map { lane in
      var statistics = EngineStatistics.Lane(
        network: lane.lane.network, app: lane.lane.app.rawValue, pausedBy: lane.breaker.cause)
      statistics.answers = lane.answers
      return statistics
    }
  }

  /// Finds the lane by a linear search, which is faster than hashing for a handful of lanes.
  mutating func index(of lane: PushLane) -> Int {
    if let known = lanes.firstIndex(where: { $0.lane == lane }) { return known }
    lanes.append(Lane(lane))
    return lanes.count - 1
  }
}
