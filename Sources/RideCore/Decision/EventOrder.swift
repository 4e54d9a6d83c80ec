import Base

/// The order of a ride's events and slots: events by ID, and slots between them by time.
enum EventOrder {
  /// Sorts the pushes to recipients in the order of their events; others keep their indices.
  static func sort(_ pushes: inout [PlannedPush]) {
    if pushes.count < 2 { return }
    let indices = pushes.indices.filter { pushes[$0].entry.recipient != nil }
    let ordered = sorted(indices.map { pushes[$0] }, event: \.entry.event)
    for (index, push) in zip(indices, ordered) { pushes[index] = push }
  }

  /// Returns elements in the order of their events.
  static func sorted<Element>(
    _ elements: [Element], event: (Element) -> RideEvent
  ) -> [Element] {
    let events = elements.map(event)
    let isSorted = zip(events, events.dropFirst()).allSatisfy { !$0.isNewer(than: $1) }
    if isSorted { return elements }
    // An event counts as no earlier than its predecessors, even if the clock was set back.
    var times: [Int64: Timestamp] = [:]
    var latest = Timestamp(microseconds: .min)
    for event in events.sorted(by: { $0.id < $1.id }) where event.id != 0 {
      latest = max(latest, event.at)
      times[event.id] = latest
    }
    let keys = events.enumerated().map { index, event in
      (times[event.id] ?? event.at, event.id, index)
    }
    return keys.sorted { $0 < $1 }.map { elements[$0.2] }
  }
}
