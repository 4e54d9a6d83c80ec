package import Base

/// One row of `ridepulse.rides`.
package struct Ride: Hashable, Sendable {
  package var id: RideID
  /// One of the states that the service defines.
  package var state: String?
  /// The owner of the ride's phones in app `customer`.
  package var customerID: OwnerID?
  /// The owner of the ride's phones in app `driver`.
  package var driverID: OwnerID?
  package var pickupAt: Timestamp?
  /// An IANA time zone name.
  package var timeZone: String
  /// The JSON text from Postgres, parsed once for each decision.
  package var attributes: String
  package var updatedAt: Timestamp?
  /// When the ride last entered each state that it has had; empty if no rule reads it.
  package var entered: [String: Timestamp] = [:]
  /// Further people of the ride, for any app, in the order of `ridepulse.participants`' key.
  package var participants: [Participant] = []
  /// Whether its row of an attached table changed and could not be read since.
  package var isUnread = false

  package init(id: RideID, state: String?) {
    self.id = id
    self.state = state
    timeZone = "UTC"
    attributes = "{}"
  }
}

/// A further person of a ride: a row of `ridepulse.participants`.
package struct Participant: Hashable, Sendable {
  package var app: App
  package var ownerID: OwnerID
  /// What concerns this person alone, as the JSON text from Postgres.
  package var attributes: String

  package init(app: App, ownerID: OwnerID, attributes: String = "{}") {
    self.app = app
    self.ownerID = ownerID
    self.attributes = attributes
  }

  /// Returns whether it is a person in the role of one app's user.
  package func isPerson(_ owner: OwnerID, _ app: App) -> Bool {
    ownerID == owner && self.app == app
  }

  /// The maximum number of participants of a ride, and of people whom one event names: all phones
  /// of an event are read at once.
  package static let limit = 1000
}
