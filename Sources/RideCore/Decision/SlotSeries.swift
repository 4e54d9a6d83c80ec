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
