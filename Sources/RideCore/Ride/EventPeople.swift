/// Whom a ride named when one of its events was emitted.
///
/// A class, so that the events and ledger rows of a batch share it.
package final class EventPeople: Hashable, Sendable {
  /// `customer_id`.
  package let customer: OwnerID?
  /// `driver_id`.
  package let driver: OwnerID?
  /// The row as it was before, if this event replaced or removed one of its people.
  package let former: RideImage?

  /// The people of a row, and the row before them.
  package init(customer: OwnerID?, driver: OwnerID?, former: RideImage? = nil) {
    self.customer = customer
    self.driver = driver
    self.former = former
  }

  /// Compares by value.
  package static func == (left: EventPeople, right: EventPeople) -> Bool {
    left.customer == right.customer && left.driver == right.driver && left.former == right.former
  }

  /// Hashes what `==` compares.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(customer)
    hasher.combine(driver)
  }
}

/// A ride's row as it was before its people changed: what texts to its former people may name.
package final class RideImage: Hashable, Sendable, Codable {
  /// `state`.
  package let state: String?
  /// `customer_id`.
  package let customer: OwnerID?
  /// `driver_id`.
  package let driver: OwnerID?
  /// `pickup_at`.
  package let pickupAt: Timestamp?
  /// `time_zone`.
  package let timeZone: String
  /// `attributes`: the JSON text.
  package let attributes: String

  /// A row as it was.
  package init(
    state: String? = nil, customer: OwnerID? = nil, driver: OwnerID? = nil,
    pickupAt: Timestamp? = nil, timeZone: String = "UTC", attributes: String = "{}"
  ) {
    self.state = state
    self.customer = customer
    self.driver = driver
    self.pickupAt = pickupAt
    self.timeZone = timeZone
    self.attributes = attributes
  }

  /// The row, under its ID.
  func ride(_ id: RideID) -> Ride {
    var ride = Ride(id: id, state: state)
    ride.customerID = customer
    ride.driverID = driver
    ride.pickupAt = pickupAt
    ride.timeZone = timeZone
    ride.attributes = attributes
    return ride
  }

  /// Compares by value.
  package static func == (left: RideImage, right: RideImage) -> Bool {
    left.state == right.state && left.customer == right.customer && left.driver == right.driver
      && left.pickupAt == right.pickupAt && left.timeZone == right.timeZone
      && left.attributes == right.attributes
  }

  /// Hashes what tells most images apart.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(customer)
    hasher.combine(driver)
    hasher.combine(attributes)
  }
}
