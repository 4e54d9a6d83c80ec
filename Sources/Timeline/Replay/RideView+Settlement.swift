import Base
package import RideCore

extension RideView {
  /// Applies a settlement as the database does, so that the view is what the next claim would read.
  package mutating func apply(_ settlement: Settlement) {
    let consumed = Set(settlement.consumed)
    events.removeAll { consumed.contains($0.key) }
    append(settlement.emits, after: settlement)
    memo = settlement.isOver ? Memo() : settlement.memo
    for token in settlement.invalidations {
      switch token.kind {
      case .phone: phones.removeAll { $0.id == token.id }
      case .start:
        startTokens.removeAll { $0.id == token.id && token.ends(registeredAt: $0.registeredAt) }
      case .channel:
        for index in channels.indices where channels[index].id == token.id {
          channels[index].standing =
            RideChannel.isOver(endedReason: token.reason) ? .over : .closed
        }
      // An ended card is removed; one whose token is gone stays, so that no other replaces it.
      case .activity where token.since == nil: cards.removeAll { $0.target == .activity(token.id) }
      case .activity:
        for index in cards.indices where cards[index].isEnded(by: token) {
          cards[index].isGone = true
        }
      }
    }
  }

  /// Adds emitted events, with IDs above those of all events that the ride has had.
  private mutating func append(_ emits: [EmittedEvent], after settlement: Settlement) {
    if emits.isEmpty { return }
    let known =
      events.map(\.id) + settlement.consumed.map(\.id)
      + (memo.waiting + settlement.memo.waiting).map(\.entry.event.id)
      + settlement.entries.map(\.event.id)
    lastEmitted = max(lastEmitted, known.max() ?? 0)
    let people = ride.map { EventPeople(customer: $0.customerID, driver: $0.driverID) }
    for emitted in emits where lastEmitted < .max {
      lastEmitted += 1
      var event = RideEvent(
        id: lastEmitted, name: emitted.name, at: emitted.at, data: emitted.data)
      event.people = people
      events.append(event)
    }
  }
}

extension Card {
  func isEnded(by token: TokenInvalidation) -> Bool {
    target == .activity(token.id) && token.ends(registeredAt: registeredAt)
  }
}
