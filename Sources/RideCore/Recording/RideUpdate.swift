package import Base

/// A ride's row as a change states it: the whole row, or only the columns that it names.
package struct RideUpdate: StoredObject, Hashable, Sendable {
  package var id: RideID
  // The columns: nil is one that the change does not name.
  package var state: String??
  package var customerID: OwnerID??
  package var driverID: OwnerID??
  package var pickupAt: Timestamp??
  package var timeZone: String?
  /// These keys of `attributes`; all others stay. An attribute that is gone is null.
  package var attributes: [String: JSONValue]?
  /// All participants.
  package var participants: [Participant]?
  package var updatedAt: Timestamp?
  /// When it entered the states that it had before this change.
  package var entered: [String: Timestamp]?
  /// Whether the row was deleted.
  package var isRemoved = false

  package init(
    id: RideID, state: String?? = nil, customerID: OwnerID?? = nil, driverID: OwnerID?? = nil,
    pickupAt: Timestamp?? = nil, timeZone: String? = nil, attributes: [String: JSONValue]? = nil
  ) {
    self.id = id
    self.state = state
    self.customerID = customerID
    self.driverID = driverID
    self.pickupAt = pickupAt
    self.timeZone = timeZone
    self.attributes = attributes
  }

  /// The whole row.
  package init(_ ride: Ride) {
    self.init(
      id: ride.id, state: ride.state, customerID: ride.customerID, driverID: ride.driverID,
      pickupAt: ride.pickupAt, timeZone: ride.timeZone, attributes: [:])
    if case .object(let members)? = JSONValue(json: ride.attributes.utf8) { attributes = members }
    participants = ride.participants
    updatedAt = ride.updatedAt
    if !ride.entered.isEmpty { entered = ride.entered }
  }

  package static var blank: RideUpdate { RideUpdate(id: "") }

  package mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    try fields.field("id", &id)
    try fields.column("state", &state, as: .text)
    try fields.column("customer_id", &customerID, as: .text)
    try fields.column("driver_id", &driverID, as: .text)
    try fields.column("pickup_at", &pickupAt, as: .time)
    try fields.field("time_zone", &timeZone)
    try fields.field("attributes", &attributes, as: .object)
    try fields.field("participants", &participants, as: .objects())
    try fields.field("updated_at", &updatedAt, as: .time)
    try fields.field("entered", &entered, as: .times)
    try fields.flag("removed", &isRemoved)
  }
}

extension Participant: StoredObject {
  package static var blank: Participant { Participant(app: .customer, ownerID: "") }

  package mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    try fields.field("app", &app)
    try fields.field("owner_id", &ownerID)
    var members: [String: JSONValue]?
    if attributes != "{}", case .object(let known)? = JSONValue(json: attributes.utf8) {
      members = known
    }
    try fields.field("attributes", &members, as: .object)
    attributes = JSONValue.object(members ?? [:]).text
  }
}
