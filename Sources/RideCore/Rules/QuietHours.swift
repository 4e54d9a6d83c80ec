package import Base

/// `quiet`: hours of the day in which a rule's pushes wait, or are dropped.
package struct QuietHours: Hashable, Sendable {
  /// What happens to a push that falls due within the hours.
  package enum Action: String, CaseIterable, Sendable {
    /// It waits until they end, if it is still valid then.
    case hold
    case drop
  }

  /// A time of day in minutes after midnight, below 1440.
  package struct TimeOfDay: Hashable, Sendable {
    package let minutes: Int

    /// Parses `HH:MM`, from `00:00` to `23:59`; nil for anything else.
    package init?(text: String) {
      let bytes = Array(text.utf8)
      let digits = bytes.map { Int($0) - Int(UInt8(ascii: "0")) }
      guard bytes.count == 5, bytes[2] == UInt8(ascii: ":"),
        [0, 1, 3, 4].allSatisfy({ (0...9).contains(digits[$0]) })
      else { return nil }
      let (hour, minute) = (10 * digits[0] + digits[1], 10 * digits[3] + digits[4])
      guard hour < 24, minute < 60 else { return nil }
      minutes = 60 * hour + minute
    }

    var seconds: Int64 { Int64(minutes) * 60 }

    /// The time as in a rule file.
    package var text: String {
      String(minutes / 60, width: 2) + ":" + String(minutes % 60, width: 2)
    }
  }

  /// Whose wall clock they are kept by.
  package enum Zone: Hashable, Sendable {
    /// The ride's; for an event about no ride, the phone's.
    case ride
    /// That of each phone; for a phone without a zone, the ride's.
    case phone
    /// A fixed zone.
    case named(ZoneTimes)
  }

  package var from: TimeOfDay
  /// When they end; earlier in the day than `from` if they go over midnight.
  package var to: TimeOfDay
  /// The zone of the wall clock.
  package var zone: Zone
  package var action: Action

  package init(from: TimeOfDay, to: TimeOfDay, zone: Zone, then action: Action) {
    self.from = from
    self.to = to
    self.zone = zone
    self.action = action
  }

  /// How long they last while no clock is changed.
  var length: Duration { .seconds((to.seconds - from.seconds + Self.day) % Self.day) }

  /// Returns when the quiet hours that contain an instant end; nil if none do.
  ///
  /// Quiet is what the clock on the wall shows. So they end at the first `to` that it shows, or, if
  /// the clock skips that time in spring, when it skips it. In autumn it may show `from` and `to`
  /// twice, and the hours between them are quiet both times.
  package func end(at instant: Timestamp, in zone: ZoneTimes) -> Timestamp? {
    var second = instant.epochSeconds
    // Each step ends at a change of the clock, and a day has few.
    for _ in 0..<8 {
      let stretch = zone.stretch(at: second)
      guard let left = left(ofDayAt: second &+ stretch.offset) else {
        return second == instant.epochSeconds ? nil : Timestamp(epochSeconds: second)
      }
      let (end, isBeyond) = second.addingReportingOverflow(left)
      if isBeyond { return nil }
      if end < stretch.end { return Timestamp(epochSeconds: end) }
      second = stretch.end
    }
    return Timestamp(epochSeconds: second)
  }

  private static let day: Int64 = 86_400

  /// Returns the seconds that are left of the quiet hours on an unchanged wall clock; nil outside
  /// them.
  private func left(ofDayAt local: Int64) -> Int64? {
    let time = (local % Self.day + Self.day) % Self.day
    let length = (to.seconds - from.seconds + Self.day) % Self.day
    let passed = (time - from.seconds + Self.day) % Self.day
    return passed < length ? length - passed : nil
  }
}

extension QuietHours {
  /// Returns the wall clock's zone, and what the ledger calls it.
  ///
  /// A ride whose zone is unknown loses no push: it would be worse than to be wrong about the hour.
  func wallClock(_ context: TemplateContext) -> (zone: ZoneTimes, name: String) {
    let clock: WallClock
    switch zone {
    case .named(let zone): return (zone, zone.identifier)
    case .ride: clock = context.clock(.ride)
    case .phone: clock = context.clock(.phone)
    }
    return (clock.zone, clock.name)
  }
}
