import Base
package import RideCore

// How a change alters a ride's row, and what the database's trigger emits then.

extension Ride {
  /// Sets the columns that a change names.
  package mutating func set(_ update: RideUpdate) {
    if let value = update.state { state = value }
    if let value = update.customerID { customerID = value }
    if let value = update.driverID { driverID = value }
    if let value = update.pickupAt { pickupAt = value }
    if let value = update.timeZone { timeZone = value }
    if let values = update.attributes {
      var members: [String: JSONValue] = [:]
      if case .object(let present)? = JSONValue(json: attributes.utf8) { members = present }
      let all = members.merging(values) { _, new in new }
      if all != members { attributes = String(decoding: JSONValue.object(all).json, as: UTF8.self) }
    }
    if let times = update.entered { entered.merge(times) { $1 } }
    guard let people = update.participants else { return }
    participants = []
    for person in people
    where !participants.contains(where: { $0.isPerson(person.ownerID, person.app) }) {
      participants.append(person)
    }
  }

  /// Returns what the trigger `ride_changed` emits when the row is inserted or updated.
  func changeEvent(after old: Ride?, at now: Timestamp, id: Int64) -> RideEvent {
    // A change of participants alone emits nothing but what makes the ride due, for their cards.
    if var plain = old {
      plain.participants = participants
      plain.updatedAt = updatedAt
      if plain == self {
        return RideEvent(id: id, name: InternalEvent.cardEnded.rawValue, at: now)
      }
    }
    var event = RideEvent(id: id, name: newState(after: old) ?? "ride_updated", at: now)
    event.people = EventPeople(
      customer: customerID, driver: driverID, former: old?.former(before: self))
    return event
  }

  /// Returns the state that the row has and the former row had not.
  func newState(after old: Ride?) -> String? {
    state != old?.state && state?.isEmpty == false ? state : nil
  }

  /// Returns the owner of an app's phones.
  package func owner(of app: App) -> OwnerID? {
    app.owner(customer: customerID, driver: driverID) { key in
      JSONValue(json: attributes.utf8)?.value(at: [key])
    }
  }

  /// Returns the row before an update that replaced or removed one of the ride's people, as the
  /// database's `former_row` does; nil if it did not.
  private func former(before new: Ride) -> RideImage? {
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
