package import Base
package import RideCore

/// Something that happens to a ride, as the calls and triggers of the database record it.
package enum RideChange: Hashable, Sendable {
  /// One update of the ride's row.
  case row([RideColumn])
  /// `ridepulse.emit`; the data is a JSON object.
  case event(String, data: JSONValue)
  /// `ridepulse.contact`; without an owner, that of the ride.
  case contact(App, OwnerID?, InstallationID? = nil)
  /// `ridepulse.register_live_activity`.
  case card(Card)
  /// `ridepulse.seen` for the pushes of the rule's last firing; without an owner, for those to all.
  case seen(rule: String, OwnerID?)
  /// From now on APNs answers like this, until a time or for good.
  case answer(PushOutcome, until: Timestamp?)
}

/// A column of the ride's row and its new value.
package enum RideColumn: Hashable, Sendable {
  case state(String?)
  case customerID(OwnerID?)
  case driverID(OwnerID?)
  case pickupAt(Timestamp?)
  case timeZone(String)
  /// These keys of `attributes`; all others stay.
  case attributes([String: JSONValue])
}

extension RideView {
  /// Applies a change; returns whether it made the ride due, with an event of this ID.
  mutating func apply(_ change: RideChange, at now: Timestamp, event id: Int64) -> Bool {
    switch change {
    case .row(let columns): return update(columns, at: now, event: id)
    case .event(let name, let data):
      let text = String(decoding: data.json, as: UTF8.self)
      append(RideEvent(id: id, name: name, at: now, data: text), former: nil)
      return true
    case .contact(let app, let owner, let installation):
      let owner = owner ?? ride.flatMap { $0.owner(of: app) }
      for index in phones.indices where phones[index].app == app && phones[index].ownerID == owner {
        if phones[index].mayBe(installation) { phones[index].contactedAt = now }
      }
      if let owner {
        contacts.removeAll { $0.app == app && $0.owner == owner }
        contacts.append(OwnerContact(app: app, owner: owner, at: now))
      }
      return false
    case .card(let card):
      cards.removeAll { $0.target == card.target }
      cards.append(card)
      let name = InternalEvent.cardRegistered.rawValue
      append(RideEvent(id: id, name: name, at: now), former: nil)
      return true
    // `RideReplay` handles these itself.
    case .seen, .answer: return false
    }
  }

  /// Updates the row and emits what the trigger `ride_changed` emits: the event of a new state, or
  /// `ride_updated` for any other change.
  private mutating func update(
    _ columns: [RideColumn], at now: Timestamp, event id: Int64
  ) -> Bool {
    guard let old = ride else { return false }
    var new = old
    for column in columns { new.set(column) }
    if new == old { return false }
    new.updatedAt = now
    ride = new
    events.append(new.changeEvent(after: old, at: now, id: id))
    return true
  }

  private mutating func append(_ event: RideEvent, former: RideImage?) {
    var event = event
    event.people = EventPeople(customer: ride?.customerID, driver: ride?.driverID, former: former)
    events.append(event)
  }
}

extension Phone {
  /// Returns whether a contact may have been this phone's: unless both name other installations.
  func mayBe(_ installation: InstallationID?) -> Bool {
    guard let installation, let installationID else { return true }
    return installation == installationID
  }
}

extension Ride {
  /// Returns what the trigger `ride_changed` emits when the row is inserted or updated.
  func changeEvent(after old: Ride?, at now: Timestamp, id: Int64) -> RideEvent {
    let hasNewState = state != old?.state && state?.isEmpty == false
    let name = hasNewState ? state : nil
    var event = RideEvent(id: id, name: name ?? "ride_updated", at: now)
    event.people = EventPeople(
      customer: customerID, driver: driverID, former: old?.former(before: self))
    return event
  }

  /// Returns the owner of an app's phones.
  package func owner(of app: App) -> OwnerID? {
    app.owner(customer: customerID, driver: driverID) { key in
      JSONValue(json: attributes.utf8)?.value(at: [key])
    }
  }

  /// Sets a column.
  package mutating func set(_ column: RideColumn) {
    switch column {
    case .state(let value): state = value
    case .customerID(let value): customerID = value
    case .driverID(let value): driverID = value
    case .pickupAt(let value): pickupAt = value
    case .timeZone(let value): timeZone = value
    case .attributes(let values):
      var members: [String: JSONValue] = [:]
      if case .object(let present)? = JSONValue(json: attributes.utf8) { members = present }
      let all = members.merging(values) { _, new in new }
      if all != members { attributes = String(decoding: JSONValue.object(all).json, as: UTF8.self) }
    }
  }

  /// Returns the row before an update that replaced or removed one of the ride's people, as the
  /// database's `former_row` does; nil if it did not.
  fileprivate func former(before new: Ride) -> RideImage? {
    func hasLeft(_ old: OwnerID?, _ new: OwnerID?) -> Bool { old != nil && old != new }
    if !hasLeft(customerID, new.customerID), !hasLeft(driverID, new.driverID),
      !namesOthers(than: new)
    {
      return nil
    }
    return RideImage(
      state: state, customer: customerID, driver: driverID, pickupAt: pickupAt,
      timeZone: timeZone, attributes: attributes)
  }

  /// Returns whether an attribute whose key ends in `_id` has another value in the new row.
  private func namesOthers(than new: Ride) -> Bool {
    if attributes == new.attributes { return false }
    guard case .object(let members)? = JSONValue(json: attributes.utf8) else { return false }
    let others = JSONValue(json: new.attributes.utf8)
    return members.contains { key, value in
      key.hasSuffix("_id") && value != .null && value != others?.value(at: [key])
    }
  }
}

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
