/// `at-most`: no more than `count` pushes to one owner within a time, or within a ride.
package struct PushCap: Hashable, Sendable {
  package enum Period: Hashable, Sendable {
    /// Any time of this length, over all rides.
    case time(Duration)
    /// The ride that a push is about.
    case ride

    /// How long what was sent counts.
    ///
    /// A ride has no end at which counting could stop: a payment may fail weeks later.
    package var window: Duration {
      switch self {
      case .time(let time): time
      case .ride: .seconds(90 * 86_400)
      }
    }
  }

  package var count: Int
  package var period: Period

  package init(count: Int, per period: Period) {
    self.count = count
    self.period = period
  }

  package init(count: Int, per time: Duration) {
    self.init(count: count, per: .time(time))
  }
}

/// What `at-most` counts: the pushes of a topic, or those of a rule without one.
package enum CountedPushes: Hashable, Sendable {
  case topic(Topic)
  case rule(String)

  /// What pushes of a rule count as.
  package init(_ limits: RuleLimits, of rule: String) {
    self = limits.topic.map { .topic($0) } ?? .rule(rule)
  }

  /// Creates one from its `kind` and `name`; nil if there is no such kind.
  package init?(kind: String, name: String) {
    switch kind {
    case "topic": self = .topic(Topic(name))
    case "rule": self = .rule(name)
    default: return nil
    }
  }

  package var kind: String {
    switch self {
    case .topic: "topic"
    case .rule: "rule"
    }
  }

  package var name: String {
    switch self {
    case .topic(let topic): topic.text
    case .rule(let name): name
    }
  }
}
