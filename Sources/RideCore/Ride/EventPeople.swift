/// Whom a ride named when one of its events was emitted.
///
/// A class, so that the events and ledger rows of a batch share it.
public final class EventPeople: Hashable, Sendable {
  /// `customer_id`.
  public let customer: OwnerID?
  /// `driver_id`.
  public let driver: OwnerID?
  /// The row as it was before, if this event replaced or removed one of its people.
  public let former: RideImage?

  /// The people of a row, and the row before them.
  public init(customer: OwnerID?, driver: OwnerID?, former: RideImage? = nil) {
    self.customer = customer
    self.driver = driver
    self.former = former
  }

  /// Compares by value.
  public static func == (left: EventPeople, right: EventPeople) -> Bool {
    left.customer == right.customer && left.driver == right.driver && left.former == right.former
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(customer)
    hasher.combine(driver)
  }
}

/// A ride's row as it was before its people changed: what texts to its former people may name.
public final class RideImage: Hashable, Sendable, Codable {
  /// `state`.
  public let state: String?
  /// `customer_id`.
  public let customer: OwnerID?
  /// `driver_id`.
  public let driver: OwnerID?
  /// `pickup_at`.
  public let pickupAt: Timestamp?
  /// `time_zone`.
  public let timeZone: String
  /// `attributes`: the JSON text.
  public let attributes: String

  /// A row as it was.
  public init(
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
  public static func == (left: RideImage, right: RideImage) -> Bool {
    left.state == right.state && left.customer == right.customer && left.driver == right.driver
      && left.pickupAt == right.pickupAt && left.timeZone == right.timeZone
      && left.attributes == right.attributes
  }

  /// Hashes what tells most images apart.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(customer)
    hasher.combine(driver)
    hasher.combine(attributes)
  }
}
