/// What became of the slots of one rule: each that was due is in exactly one of the others.
package struct SlotTally: Hashable, Sendable {
  /// Slots that lay in the time that was looked at, counted by themselves.
  package var due = 0
  /// The rule spoke.
  package var fired = 0
  /// The rule was not to speak: a heartbeat whose successor is due, a reminder that was set in the
  /// past, a slot that the ride left before anybody could look.
  package var skipped = 0
  /// A cron slot that nobody looked at in time, and that `missed` does not make up for.
  package var missed = 0
  /// A cron slot that `missed: all` would make up for, beyond its bound.
  package var capped = 0
  /// The rule would have spoken, of something that was not true any more.
  package var expired = 0

  /// Nothing yet.
  package init() {}

  /// Slots that are due and whose fate nobody knows; anything but 0 is a fault of RidePulse.
  package var remainder: Int { due - fired - skipped - missed - capped - expired }

  /// Adds another tally to this one.
  package static func += (sum: inout SlotTally, other: SlotTally) {
    sum.due += other.due
    sum.fired += other.fired
    sum.skipped += other.skipped
    sum.missed += other.missed
    sum.capped += other.capped
    sum.expired += other.expired
  }
}
