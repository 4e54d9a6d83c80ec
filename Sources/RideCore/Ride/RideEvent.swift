package import Base

/// An event of a ride: one row of `ridepulse.events`.
package struct RideEvent: Hashable, Sendable {
  /// The row's ID; 0 for a time slot, which has no row.
  package var id: Int64
  /// The event's name, such as `driver_arrived`; for a time slot the rule's trigger: `every`,
  /// `cron`.
  package var name: String
  /// When it was emitted, by the database's clock.
  package var at: Timestamp
  /// The JSON text from Postgres.
  package var data: String
  /// The people that the ride named when the event was emitted; nil if they were not recorded.
  package var people: EventPeople?

  /// When the rule fires that the event armed by `at`; nil for any other rule, which fires at once.
  package var firesAt: Timestamp?

  package init(id: Int64, name: String, at: Timestamp, data: String = "{}") {
    self.id = id
    self.name = name
    self.at = at
    self.data = data
  }

  /// Returns whether the event happened after another event of the same ride.
  ///
  /// IDs order events even if the clock was set back between them; a slot has only its time, and so
  /// has a firing that an event armed for later.
  func isNewer(than other: RideEvent) -> Bool {
    id == 0 || other.id == 0 || firesAt != nil || other.firesAt != nil
      ? (firing, id) > (other.firing, other.id) : id > other.id
  }
}

/// What identifies an event's row.
///
/// The ID alone does not: after the promotion of an asynchronous standby, the ID of a lost event may
/// be given to a later one.
package struct EventKey: Hashable, Sendable {
  package var id: Int64
  package var at: Timestamp
}

extension RideEvent {
  /// When the rule fires about which this is: the event's own time, unless it armed a later one.
  package var firing: Timestamp { firesAt ?? at }

  /// Returns the event as that of a rule which it armed for a later time.
  func firing(at instant: Timestamp) -> RideEvent {
    var event = self
    event.firesAt = instant
    return event
  }

  package var key: EventKey { EventKey(id: id, at: at) }

  /// The event in the ledger of a push that no event of the ride caused.
  package static func refresh(at now: Timestamp) -> RideEvent {
    RideEvent(id: 0, name: "refresh", at: now)
  }
}
