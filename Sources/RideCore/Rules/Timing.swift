/// When a schedule rule fires: at which instants, and in which states of a ride.
package struct Timing: Hashable, Sendable {
  package var slots: Slots
  /// `while`: the states in which the rule fires; slots at other times don't count.
  package var states: Set<String>

  package init(_ slots: Slots, while states: Set<String>) {
    self.slots = slots
    self.states = states
  }

  /// The instants, in the terms of the rule files.
  package enum Slots: Hashable, Sendable {
    /// `every`: one period after the ride entered the states, and again each period.
    case every(Duration)
    /// `before` and `after` with `by`: once, this long before (negative) or after a time of the
    /// ride.
    case relative(to: RideTime, by: Duration)
    /// `cron` with `time-zone` and `missed`.
    case cron(CronSchedule, zone: Zone, missed: Missed)
  }

  /// `time-zone`: the zone of a cron expression's wall clock.
  package enum Zone: Hashable, Sendable {
    /// `ride`: the ride's own zone.
    case ride
    /// A fixed zone.
    case named(ZoneTimes)
  }

  /// `missed`: what happens to cron slots that were not evaluated in time.
  package enum Missed: Hashable, Sendable {
    /// They are skipped.
    case skip
    /// The newest of them is made up for, unless a later slot is on time.
    case latest
    /// The newest of them are made up for, at most this many.
    case all(atMost: Int)

    /// The bound of `all` if the rule states none.
    package static let usualBound = 10
  }

  /// How late a cron slot is still on time.
  ///
  /// It covers two runs of a system cron, the end of a node, or a deployment.
  static let grace: Duration = .seconds(120)

  /// The key in the rule file; also `event.name` in the rule's own texts, and the ledger's `event`.
  package var keyword: String {
    switch slots {
    case .every: "every"
    case .relative(_, let offset): offset < .zero ? "before" : "after"
    case .cron: "cron"
    }
  }
}

extension Timing {
  /// A text of everything that determines when the rule fires.
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

/// A time in a ride's row.
package enum RideTime: Hashable, Sendable {
  /// The column `pickup_at`.
  case pickupAt
  /// `attributes.KEY`: seconds since 1970, or ISO 8601.
  case attribute([String])

  /// Parses the notation of rule files: `pickup_at`, `attributes.dropoff_at`.
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
