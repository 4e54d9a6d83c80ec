/// When a rule speaks by the clock: at which instants, and in which states of a ride.
package struct Timing: Hashable, Sendable {
  /// At which instants.
  package var slots: Slots
  /// `while`: the states in which the rule speaks; slots of other times are none.
  package var states: Set<String>

  /// Slots of time in some states.
  package init(_ slots: Slots, while states: Set<String>) {
    self.slots = slots
    self.states = states
  }

  /// The instants, in the words of the rule files.
  package enum Slots: Hashable, Sendable {
    /// `every`: one period after the ride entered the states, and again each period.
    case every(Duration)
    /// `before` and `after` with `by`: once, this long before (negative) or after a time of the ride.
    case relative(to: RideTime, by: Duration)
    /// `cron` with `time-zone` and `missed`.
    case cron(CronSchedule, zone: Zone, missed: Missed)
  }

  /// `time-zone`: where a cron expression's wall clock hangs.
  package enum Zone: Hashable, Sendable {
    /// `ride`: in the ride's own zone.
    case ride
    /// In this one.
    case named(ZoneTimes)
  }

  /// `missed`: what becomes of cron slots that nobody looked at in time.
  package enum Missed: Hashable, Sendable {
    /// Nothing.
    case skip
    /// The newest of them is made up for, where no later one is on time.
    case latest
    /// The newest of them are made up for, at most so many.
    case all(atMost: Int)

    /// The bound of `all` where the rule states none.
    package static let usualBound = 10
  }

  /// A cron slot is on time for so long: two runs of a system cron, a node's end, a deployment.
  static let grace: Duration = .seconds(120)

  /// The key of the rule file that states it; `event.name` in the rule's own texts, and the
  /// ledger's `event`.
  package var keyword: String {
    switch slots {
    case .every: "every"
    case .relative(_, let offset): offset < .zero ? "before" : "after"
    case .cron: "cron"
    }
  }
}

extension Timing {
  /// All that says at which times it speaks, as a text.
  var digest: String {
    let slots =
      switch slots {
      case .every(let period): "\(period)"
      case .relative(let time, let offset): "\(time) \(offset)"
      case .cron(let schedule, .ride, let missed): "\(schedule) ride \(missed)"
      case .cron(let schedule, .named(let zone), let missed):
        "\(schedule) \(zone.identifier) \(missed)"
      }
    return "\(keyword) \(slots) \(states.sorted())"
  }
}

/// A time that a ride's row holds.
package enum RideTime: Hashable, Sendable {
  /// The column `pickup_at`.
  case pickupAt
  /// `attributes.KEY`: seconds since 1970, or ISO 8601.
  case attribute([String])

  /// How rule files write it: `pickup_at`, `attributes.dropoff_at`.
  package init?(_ text: String) {
    if text == "pickup_at" {
      self = .pickupAt
      return
    }
    let keys = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard keys.count > 1, keys[0] == "attributes", !keys.contains("") else { return nil }
    self = .attribute(Array(keys.dropFirst()))
  }
}
