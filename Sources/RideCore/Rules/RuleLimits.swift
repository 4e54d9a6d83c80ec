package import Base

/// What a rule asks before it disturbs a person: its topic, the hour, the count.
package struct RuleLimits: Hashable, Sendable {
  /// `topic`: what a person can turn off; nil for a rule that is required.
  package var topic: Topic?
  /// `quiet`, of the rule or of `defaults`.
  package var quiet: QuietHours?
  /// `at-most`: how many of its pushes, or of those of its topic, an owner receives.
  package var cap: PushCap?

  package init() {}

  package var isEmpty: Bool { topic == nil && quiet == nil && cap == nil }
}

/// What `defaults` states for the rules of all files.
package struct RuleDefaults: Hashable, Sendable {
  /// The quiet hours of alert rules that a person can turn off; see `RuleLimits.quiet`.
  package var quiet: QuietHours?
  /// The locale whose text a phone of another one gets.
  package var locale: String?
  /// The zone of events about no ride, and of rides whose zone is unknown.
  package var zone: ZoneTimes?

  package init(quiet: QuietHours? = nil, locale: String? = nil, zone: ZoneTimes? = nil) {
    self.quiet = quiet
    self.locale = locale
    self.zone = zone
  }

  /// Returns the quiet hours of a rule that states none.
  ///
  /// They are for alerts that can wait: whatever a person can't turn off, or that breaks through
  /// Focus, is worth the hour. Pushes without an alert make no sound, and a card must be right
  /// whenever its owner looks at it.
  package func quiet(for what: Rule.What, topic: Topic?) -> QuietHours? {
    guard topic != nil, case .alert(let alert, _) = what else { return nil }
    switch alert.interruptionLevel {
    case .timeSensitive, .critical: return nil
    case .active, .passive, nil: return quiet
    }
  }
}
