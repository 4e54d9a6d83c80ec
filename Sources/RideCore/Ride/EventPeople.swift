/// The people that a ride named when one of its events was emitted.
///
/// It is a class so that the events and ledger rows of a batch share one instance.
package final class EventPeople: Hashable, Sendable {
  package let customer: OwnerID?
  package let driver: OwnerID?
  /// The row before the event, if the event replaced or removed one of the ride's people.
  package let former: RideImage?

  package init(customer: OwnerID?, driver: OwnerID?, former: RideImage? = nil) {
    self.customer = customer
    self.driver = driver
    self.former = former
  }

  package static func == (left: EventPeople, right: EventPeople) -> Bool {
    left.customer == right.customer && left.driver == right.driver && left.former == right.former
  }

  /// Hashes only the people, not the former row.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(customer)
    hasher.combine(driver)
  }
}

/// A ride's row before its people changed, from which texts to its former people are rendered.
package final class RideImage: Hashable, Sendable, Codable {
  package let state: String?
  package let customer: OwnerID?
  package let driver: OwnerID?
  package let pickupAt: Timestamp?
  package let timeZone: String
  /// The JSON text.
  package let attributes: String

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

  /// Returns the row as a ride with this ID.
  func ride(_ id: RideID) -> Ride {
    var ride = Ride(id: id, state: state)
    ride.customerID = customer
    ride.driverID = driver
    ride.pickupAt = pickupAt
    ride.timeZone = timeZone
    ride.attributes = attributes
    return ride
  }

  package static func == (left: RideImage, right: RideImage) -> Bool {
    left.state == right.state && left.customer == right.customer && left.driver == right.driver
      && left.pickupAt == right.pickupAt && left.timeZone == right.timeZone
      && left.attributes == right.attributes
  }

  /// Hashes only the fields that distinguish most images.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(customer)
    hasher.combine(driver)
    hasher.combine(attributes)
  }
}
