package import Base

/// When a rule fires by the clock: at which instants, and in which states of a ride.
package struct Timing: Hashable, Sendable {
  package var slots: Slots
  /// `while`: the states in which the rule fires; slots at other times don't count. Nil allows any
  /// state, and every active one to a time of the ride.
  package var states: Set<String>?
  /// `lost-after`: `every` stops when the ride has not changed for this long.
  package var lostAfter: Duration
  /// `late`: how long a time of the ride may have passed when it is set, and still fire.
  package var late: Duration

  package init(
    _ slots: Slots, while states: Set<String>?, lostAfter: Duration = Self.usualLostAfter,
    late: Duration = .zero
  ) {
    self.slots = slots
    self.states = states
    self.lostAfter = lostAfter
    self.late = late
  }

  /// How long a ride may stay unchanged if the rule does not state it.
  package static let usualLostAfter: Duration = .seconds(86_400)

  /// The instants, in the terms of the rule files.
  package enum Slots: Hashable, Sendable {
    /// `every`: one period after the ride entered the states, and again each period.
    case every(Duration)
    /// `at`: once for each of these times.
    case times([RuleTime])
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
    case .times: "at"
    case .cron: "cron"
    }
  }

  /// The times of `at`; empty for other rules.
  package var times: [RuleTime] { if case .times(let times) = slots { times } else { [] } }

  /// The events that arm a firing.
  package var events: [String] { times.compactMap(\.event) }
}

extension Timing {
  /// A text of everything that determines when the rule fires.
  var digest: String {
    let slots =
      switch slots {
      case .every(let period): "\(period) \(lostAfter)"
      case .times(let times): "\(times.map(\.digest)) late \(late)"
      case .cron(let schedule, .ride, let missed): "\(schedule) ride \(missed)"
      case .cron(let schedule, .named(let zone), let missed):
        "\(schedule) \(zone.identifier) \(missed)"
      }
    return "\(keyword) \(slots) \(states?.sorted() ?? [])"
  }
}

/// The instants at which one rule may fire for one ride.
enum SlotSeries {
  /// Whole periods after an anchor.
  case beats(anchor: Timestamp, period: Duration)
  /// A single instant.
  case once(Timestamp)
  /// The times of a cron expression in a zone.
  case cron(CronSchedule, ZoneTimes)

  /// Returns the first slot after an instant.
  func next(after instant: Timestamp) -> Timestamp? {
    switch self {
    case .once(let slot): return slot > instant ? slot : nil
    case .cron(let schedule, let zone): return schedule.next(after: instant, in: zone)
    case .beats(let anchor, let period):
      let beat = Self.beat(Self.beats(anchor, period, instant) + 1, anchor, period)
      // Near the limits of `Timestamp` the arithmetic saturates, and the beat may not be later.
      return beat > instant ? beat : nil
    }
  }

  /// Returns the number of slots after one instant, up to and including another.
  func count(after: Timestamp, through: Timestamp) -> Int {
    guard through > after else { return 0 }
    switch self {
    case .once(let slot): return slot > after && slot <= through ? 1 : 0
    case .cron(let schedule, let zone):
      return schedule.count(after: after, through: through, in: zone)
    case .beats(let anchor, let period):
      return Int(Self.beats(anchor, period, through) - Self.beats(anchor, period, after))
    }
  }

  /// Returns the newest slots of such a range, at most `limit`, oldest first.
  func last(_ limit: Int, after: Timestamp, through: Timestamp) -> [Timestamp] {
    guard through > after else { return [] }
    switch self {
    case .once(let slot): return slot > after && slot <= through ? [slot] : []
    case .cron(let schedule, let zone):
      return schedule.last(limit, after: after, through: through, in: zone)
    case .beats(let anchor, let period):
      let newest = Self.beats(anchor, period, through)
      let oldest = max(Self.beats(anchor, period, after) + 1, newest - Int64(limit) + 1, 1)
      if oldest > newest { return [] }
      return (oldest...newest).map { Self.beat($0, anchor, period) }
    }
  }

  /// Returns how many whole periods have passed since the anchor; the anchor itself is not a beat.
  private static func beats(_ anchor: Timestamp, _ period: Duration, _ instant: Timestamp) -> Int64
  {
    max(0, (instant - anchor).microseconds / max(1, period.microseconds))
  }

  private static func beat(_ number: Int64, _ anchor: Timestamp, _ period: Duration) -> Timestamp {
    anchor + .microseconds(number.multipliedSaturating(by: period.microseconds))
  }

  /// Returns the heartbeats of a ride, shifted a little from the anchor.
  ///
  /// The shift keeps rides that entered their states together, as in one import, from firing
  /// together.
  static func beats(since anchor: Timestamp, period: Duration, of ride: RideID, rule: String)
    -> SlotSeries
  {
    let room = UInt64(min(period / 10, .seconds(120)).microseconds)
    let share = UInt64(truncatingIfNeeded: PushID(of: "spread", ride.text, rule).bits >> 80)
    return .beats(
      anchor: anchor + .microseconds(Int64(room == 0 ? 0 : share % room)), period: period)
  }
}
