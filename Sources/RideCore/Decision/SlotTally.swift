/// Counts the outcomes of one rule's slots: each due slot is in exactly one of the other counts.
package struct SlotTally: Hashable, Sendable {
  /// Slots in the evaluated time, counted independently of their outcomes.
  package var due = 0
  /// The rule fired.
  package var fired = 0
  /// The rule was not to fire: a heartbeat whose successor is due, a reminder that was set in the
  /// past, a slot whose states the ride left before it was evaluated.
  package var skipped = 0
  /// A cron slot that was not evaluated in time, and that `missed` does not make up for.
  package var missed = 0
  /// A cron slot that `missed: all` would make up for, beyond its bound.
  package var capped = 0
  /// The rule would have fired, but the push was no longer valid.
  package var expired = 0

  package init() {}

  /// Due slots without an outcome; anything but 0 is a bug in RidePulse.
  package var remainder: Int { due - fired - skipped - missed - capped - expired }

  package static func += (sum: inout SlotTally, other: SlotTally) {
    sum.due += other.due
    sum.fired += other.fired
    sum.skipped += other.skipped
    sum.missed += other.missed
    sum.capped += other.capped
    sum.expired += other.expired
  }
}
