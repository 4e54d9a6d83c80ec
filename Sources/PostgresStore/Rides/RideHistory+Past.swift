package import Base
import RideCore

extension RideHistory {
  /// Returns what the ledger records of the ride as it was at a time.
  ///
  /// A push without a verdict at that time is pending, without what its attempts had been: the ledger has
  /// only their end. An event that was handled later waits. The ride's row, its phones and its cards'
  /// tokens are those of now: no earlier ones are kept.
  package func at(_ time: Timestamp) -> RideHistory {
    var past = self
    past.time = time
    past.plan = nil
    past.entries = entries.filter { $0.createdAt <= time }.map { $0.at(time) }
    past.waiting = waiting.filter { $0.at <= time } + handled(after: time)
    past.activities = activities.filter { $0.registeredAt <= time }.map { activity in
      var activity = activity
      if let end = activity.endedAt, end > time {
        (activity.endedAt, activity.endedReason) = (nil, nil)
      }
      return activity
    }
    past.contacts = contacts.filter { $0.contactedAt <= time }
    return past
  }

  /// Returns the events and slots before a time of which nothing was decided then, each once.
  private func handled(after time: Timestamp) -> [RideEvent] {
    let known = Set(entries.filter { $0.createdAt <= time }.map(\.occasion))
    var seen: Set<LedgerRow.Occasion> = []
    return entries.filter { $0.createdAt > time && $0.occurredAt <= time }.map(\.occasion)
      .filter { !known.contains($0) && seen.insert($0).inserted }
      .map { RideEvent(id: $0.eventID ?? 0, name: $0.event, at: $0.at) }
  }
}

extension LedgerRow {
  /// What the row is about.
  fileprivate struct Occasion: Hashable {
    var eventID: Int64?
    var event: String
    var at: Timestamp
  }

  fileprivate var occasion: Occasion { .init(eventID: eventID, event: event, at: occurredAt) }

  /// The row as it was at a time after its creation.
  fileprivate func at(_ time: Timestamp) -> LedgerRow {
    var row = self
    if let seen = seenAt, seen > time { row.seenAt = nil }
    if let end = finishedAt, end <= time { return row }
    row.status = LedgerEntry.Status.pending.rawValue
    (row.reason, row.reasonCode, row.attempts, row.finishedAt) = (nil, nil, 0, nil)
    (row.priority, row.expiration, row.uniqueID, row.decidedBy) = (nil, nil, nil, nil)
    return row
  }
}
