import Base

/// Warnings about quiet hours that a rule's pushes can't outlast, and about clocks without a zone.
enum LimitLint {
  /// Warns about a rule for events about no ride whose wall clock is UTC if the phone has no zone.
  ///
  /// A rule that shows or reads a value of the ride is not for such events.
  static func zone(_ rule: Rule, in rules: RuleSet) -> String? {
    guard rules.defaults.zone == nil, case .on(let events, while: nil) = rule.when,
      events.contains(where: rules.events.contains), rule.condition?.readsRide != true
    else { return nil }
    let placeholders = rule.payload.placeholders + (rule.collapse?.placeholders ?? [])
    if !placeholders.allSatisfy(\.isOfEvent) { return nil }
    let hasQuiet = rule.limits.quiet.map { [.ride, .phone].contains($0.zone) } ?? false
    let shows = !CompiledPayload(rule.payload).clocks.isEmpty
    guard hasQuiet || shows else { return nil }
    let what = [shows ? "its times" : nil, hasQuiet ? "its quiet hours" : nil]
      .compactMap(\.self).joined(separator: " and ")
    return
      "\(what) are in UTC on a phone that has registered no time zone, if an event about no ride "
      + "fires it; set defaults: { time-zone: Europe/Berlin }, or the zone of your riders"
  }

  /// Warns about a rule that holds pushes through hours that few of them survive.
  static func quiet(_ rule: Rule) -> [String] {
    guard let quiet = rule.limits.quiet else { return [] }
    if let slots = slots(rule, quiet) { return [slots] }
    guard quiet.action == .hold, rule.validity < quiet.length / 4 else { return [] }
    return [
      "quiet hours last \(quiet.length.rideText) and expires is \(rule.validity.rideText): of a "
        + "night only what falls due in its last \(rule.validity.rideText) is held, and the rest is "
        + "suppressed; lengthen expires, or write quiet: off or then: drop"
    ]
  }

  /// Warns about a cron rule each slot of which is quiet for too long.
  private static func slots(_ rule: Rule, _ quiet: QuietHours) -> String? {
    guard case .at(let timing) = rule.when, case .cron(let schedule, let zone, _) = timing.slots,
      quiet.isKept(by: zone), let utc = ZoneTimes(identifier: "UTC")
    else { return nil }
    // A week has every minute, hour and weekday of an expression, and UTC no change of clocks.
    let monday = Timestamp(epochSeconds: 1_795_392_000)
    var slot = monday - .seconds(1)
    var count = 0
    while let next = schedule.next(after: slot, in: utc), next < monday + .seconds(7 * 86_400) {
      guard let end = quiet.end(at: next, in: utc) else { return nil }
      if quiet.action == .hold, end < next + rule.validity { return nil }
      count += 1
      slot = next
    }
    if count == 0 { return nil }
    return "it can never be sent: each slot of cron is within its quiet hours, "
      + (quiet.action == .hold ? "which end after it expires" : "which drop it")
  }
}

extension QuietHours {
  /// Whether they are kept by the clock of a cron rule, on each phone.
  fileprivate func isKept(by zone: Timing.Zone) -> Bool {
    switch (self.zone, zone) {
    case (.ride, .ride): true
    case (.named(let own), .named(let zone)): own == zone
    default: false
    }
  }
}
