/// A cron expression of five fields, and the instants that it means in a zone.
///
/// Where the clocks go forward, a slot that the gap swallows comes once, at the first instant after
/// it; where they go back, it comes once, at its first occurrence. A schedule whose hour begins
/// with `*` follows the wall instead: what the gap swallows does not come, what the wall shows
/// twice comes twice.
package struct CronSchedule: Hashable, Sendable {
  /// The expression as it was written.
  package let text: String
  let fields: CronFields

  /// Reads `minute hour day-of-month month day-of-week`.
  ///
  /// - Throws: `CronError` with its place, also for what can't fire within eight years.
  package init(_ text: String) throws(CronError) {
    self.text = text
    fields = try CronParser(text).fields()
  }

  /// The first slot after an instant; nil only where time ends.
  package func next(after instant: Timestamp, in zone: ZoneTimes) -> Timestamp? {
    let second = instant.epochSeconds
    var stretch = zone.stretch(at: second)
    var minute = CronFields.floor(second + stretch.offset, 60) + 1
    while true {
      if stretch.start > second, firesAtStart(of: stretch) {
        return Timestamp(epochSeconds: stretch.start)
      }
      let from = max(minute, firstMinute(of: stretch))
      if let found = fields.first(from: from, to: endMinute(of: stretch)) {
        let slot = Timestamp(epochSeconds: found * 60 - stretch.offset)
        // At the end of all time an instant stays where it is.
        return slot > instant ? slot : nil
      }
      guard let later = zone.stretch(beside: stretch, by: 1) else { return nil }
      stretch = later
      minute = firstMinute(of: later)
    }
  }

  /// The newest slots after one instant and not after another, at most `limit`, oldest first.
  package func last(
    _ limit: Int, after: Timestamp, through: Timestamp, in zone: ZoneTimes
  ) -> [Timestamp] {
    var slots: [Timestamp] = []
    var instant = through
    while slots.count < limit, let slot = last(upTo: instant, in: zone), slot > after {
      slots.append(slot)
      instant = Timestamp(epochSeconds: slot.epochSeconds - 1)
    }
    return slots.reversed()
  }

  private func last(upTo instant: Timestamp, in zone: ZoneTimes) -> Timestamp? {
    let second = instant.epochSeconds
    var stretch = zone.stretch(at: second)
    var minute = CronFields.floor(second + stretch.offset, 60)
    while true {
      if let found = fields.last(upTo: minute, from: firstMinute(of: stretch)) {
        return Timestamp(epochSeconds: found * 60 - stretch.offset)
      }
      if firesAtStart(of: stretch) { return Timestamp(epochSeconds: stretch.start) }
      guard let earlier = zone.stretch(beside: stretch, by: -1) else { return nil }
      stretch = earlier
      minute = endMinute(of: earlier) - 1
    }
  }

  /// How many slots lie after one instant and not after another: by whole days, not one by one.
  package func count(after: Timestamp, through: Timestamp, in zone: ZoneTimes) -> Int {
    guard through > after else { return 0 }
    let (first, last) = (after.epochSeconds + 1, through.epochSeconds)
    guard first <= last else { return 0 }
    var sum = 0
    var next: ZoneTimes.Stretch? = zone.stretch(at: first)
    while let stretch = next, stretch.start <= last {
      let from = max(
        Self.minute(atOrAfter: max(first, stretch.start), stretch.offset), firstMinute(of: stretch))
      let to = CronFields.floor(min(last, stretch.end - 1) + stretch.offset, 60) + 1
      sum += fields.count(from: from, to: to)
      if stretch.start >= first, firesAtStart(of: stretch), !meansStart(of: stretch) { sum += 1 }
      next = zone.stretch(beside: stretch, by: 1)
    }
    return sum
  }

  /// The first wall minute of a stretch that is not one of the stretch before, too.
  private func firstMinute(of stretch: ZoneTimes.Stretch) -> Int64 {
    if stretch.start == .min { return .min }
    let offset = fields.anyHour ? stretch.offset : max(stretch.offset, stretch.before)
    return Self.minute(atOrAfter: stretch.start, offset)
  }

  /// The first wall minute that begins after a stretch.
  private func endMinute(of stretch: ZoneTimes.Stretch) -> Int64 {
    stretch.end == .max ? .max : Self.minute(atOrAfter: stretch.end, stretch.offset)
  }

  /// Whether the gap before a stretch holds a slot, which comes at the first instant after it.
  private func firesAtStart(of stretch: ZoneTimes.Stretch) -> Bool {
    guard !fields.anyHour, stretch.start != .min, stretch.offset > stretch.before else {
      return false
    }
    let gap = Self.minute(atOrAfter: stretch.start, stretch.before)
    let end = Self.minute(atOrAfter: stretch.start, stretch.offset)
    return fields.first(from: gap, to: end) != nil
  }

  /// Whether a stretch's first instant is a slot by itself.
  private func meansStart(of stretch: ZoneTimes.Stretch) -> Bool {
    let minute = Self.minute(atOrAfter: stretch.start, stretch.offset)
    return minute * 60 == stretch.start + stretch.offset
      && fields.first(from: minute, to: minute + 1) != nil
  }

  private static func minute(atOrAfter second: Int64, _ offset: Int64) -> Int64 {
    CronFields.floor(second + offset + 59, 60)
  }
}

extension CronSchedule: CustomStringConvertible {
  /// The expression.
  package var description: String { text }
}

/// What is wrong with a cron expression.
package struct CronError: Error, Hashable, Sendable {
  /// Where, in Unicode scalars from the start.
  package let offset: Int
  /// What stands there.
  package let found: String
  /// What should.
  package let expected: String
}
