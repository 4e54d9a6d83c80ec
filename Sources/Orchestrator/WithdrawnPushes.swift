import RideCore

/// Pushes whose rides wait for them no longer, until the transport reports them.
///
/// The slots of their rides are used again only then, so that a late report hits no other ride.
struct WithdrawnPushes {
  /// One such push: its lane, and when it was sent, as uptime.
  struct Push: Equatable {
    var lane: PushLane
    var sentAt: Duration
  }

  private var pushes: [UInt64: Push] = [:]
  /// The number of such pushes by slot.
  private var slots: [Int: Int] = [:]

  var isEmpty: Bool { pushes.isEmpty }
  var all: Dictionary<UInt64, Push>.Values { pushes.values }

  /// Whether the transport has a push with this slot in its ticket.
  func contains(slot: Int) -> Bool { slots[slot] != nil }

  mutating func add(_ ticket: UInt64, _ push: Push) {
    if pushes.updateValue(push, forKey: ticket) == nil {
      slots[Ticket(ticket).slot, default: 0] += 1
    }
  }

  /// Removes a push that the transport has reported; nil if it is none of these.
  mutating func remove(_ ticket: UInt64) -> Push? {
    if pushes.isEmpty { return nil }
    guard let push = pushes.removeValue(forKey: ticket) else { return nil }
    let slot = Ticket(ticket).slot
    let left = (slots[slot] ?? 1) - 1
    slots[slot] = left > 0 ? left : nil
    return push
  }
}
