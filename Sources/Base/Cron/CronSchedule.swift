/// A cron expression of five fields, and the times that it specifies in a zone.
///
/// When the clocks go forward, a slot inside the gap fires once, at the first instant after it;
/// when they go back, a slot fires once, at its first occurrence. A schedule whose hour begins with
/// `*` follows the wall clock instead: slots inside the gap do not fire, and repeated ones fire
/// twice.
package struct CronSchedule: Hashable, Sendable {
  /// The expression as written.
  package let text: String
  let fields: CronFields

  /// Parses `minute hour day-of-month month day-of-week`.
  ///
  /// - Throws: `CronError` with the offset of the error; also if the expression cannot fire within
  ///   eight years.
  package init(_ text: String) throws(CronError) {
    self.text = text
    fields = try CronParser(text).fields()
  }

  /// Returns the first slot after an instant; nil only at the end of the range of `Timestamp`.
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
        // At the end of its range a `Timestamp` saturates, so the slot may not be later.
        return slot > instant ? slot : nil
      }
      guard let later = zone.stretch(beside: stretch, by: 1) else { return nil }
      stretch = later
      minute = firstMinute(of: later)
    }
  }

  /// Returns the newest slots after `after` and up to `through`, at most `limit`, oldest first.
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

  /// Returns the number of slots after `after` and up to `through`, counted by days instead of one
  /// by one.
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

  /// Returns the first wall minute of a stretch that may be a slot; minutes that the previous
  /// stretch also has are repeated only if the hour begins with `*`.
  private func firstMinute(of stretch: ZoneTimes.Stretch) -> Int64 {
    if stretch.start == .min { return .min }
    let offset = fields.anyHour ? stretch.offset : max(stretch.offset, stretch.before)
    return Self.minute(atOrAfter: stretch.start, offset)
  }

  /// Returns the first wall minute that begins after a stretch.
  private func endMinute(of stretch: ZoneTimes.Stretch) -> Int64 {
    stretch.end == .max ? .max : Self.minute(atOrAfter: stretch.end, stretch.offset)
  }

  /// Returns whether the gap before a stretch contains a slot, which fires at the first instant
  /// after the gap.
  private func firesAtStart(of stretch: ZoneTimes.Stretch) -> Bool {
    guard !fields.anyHour, stretch.start != .min, stretch.offset > stretch.before else {
      return false
    }
    let gap = Self.minute(atOrAfter: stretch.start, stretch.before)
    let end = Self.minute(atOrAfter: stretch.start, stretch.offset)
    return fields.first(from: gap, to: end) != nil
  }

  /// Returns whether the first instant of a stretch is a slot itself.
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
  package var description: String { text }
}

/// An error in a cron expression.
package struct CronError: Error, Hashable, Sendable {
  /// The offset of the error, in Unicode scalars from the start.
  package let offset: Int
  /// The text at that offset.
  package let found: String
  /// The text that was expected there.
  package let expected: String
}
