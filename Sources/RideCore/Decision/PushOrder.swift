import Base

/// The order of a ride's events and slots: events by ID, and slots between them by time.
enum EventOrder {
  /// Returns the pushes with those to recipients in the order of their events; others keep their
  /// places.
  static func sorted(_ pushes: [PlannedPush]) -> [PlannedPush] {
    let places = pushes.indices.filter { pushes[$0].entry.recipient != nil }
    let ordered = sorted(places.map { pushes[$0] }, event: \.entry.event)
    var sorted = pushes
    for (place, push) in zip(places, ordered) { sorted[place] = push }
    return sorted
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
    let keys = events.enumerated().map { place, event in
      (times[event.id] ?? event.at, event.id, place)
    }
    return keys.sorted { $0 < $1 }.map { elements[$0.2] }
  }
}

/// Tracks the newest push for each place on a screen: one recipient, push type and collapse ID.
///
/// A push that is sent after a newer one of its place would bring back outdated content. The push
/// type counts because a background push replaces nothing on the screen.
struct CollapseIndex {
  private struct Key: Hashable {
    var recipient: LedgerEntry.Recipient
    var pushType: PushType
    /// Compared by bytes, as at APNs.
    var collapseID: [UInt8]
  }

  private var newest: [Key: RideEvent] = [:]

  init(_ pushes: [PlannedPush] = []) {
    for push in pushes { add(push.entry) }
  }

  /// Adds a push that is sent or waits.
  mutating func add(_ entry: LedgerEntry) {
    guard let place = Self.place(of: entry) else { return }
    if let known = newest[place], !entry.event.isNewer(than: known) { return }
    newest[place] = entry.event
  }

  /// Returns the event whose push takes this one's place; nil if this one is the newest.
  func successor(of entry: LedgerEntry) -> RideEvent? {
    guard let event = Self.place(of: entry).flatMap({ newest[$0] }) else { return nil }
    return event.isNewer(than: entry.event) ? event : nil
  }

  private static func place(of entry: LedgerEntry) -> Key? {
    guard let recipient = entry.recipient, let collapseID = entry.collapseID else { return nil }
    return Key(
      recipient: recipient, pushType: entry.pushType, collapseID: Array(collapseID.utf8))
  }
}
