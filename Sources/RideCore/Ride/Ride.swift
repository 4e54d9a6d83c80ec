/// One row of `ridepulse.rides`.
package struct Ride: Hashable, Sendable {
  /// `id`.
  package var id: RideID
  /// `state`, in the service's own words.
  package var state: String?
  /// `customer_id`: whose phones app `customer` has.
  package var customerID: OwnerID?
  /// `driver_id`: whose phones app `driver` has.
  package var driverID: OwnerID?
  /// `pickup_at`.
  package var pickupAt: Timestamp?
  /// `time_zone`: an IANA name.
  package var timeZone: String
  /// `attributes`: the JSON text as Postgres gave it; read once for each decision.
  package var attributes: String
  /// `updated_at`.
  package var updatedAt: Timestamp?

  /// A ride with nothing known but its ID and state.
  package init(id: RideID, state: String?) {
    self.id = id
    self.state = state
    timeZone = "UTC"
    attributes = "{}"
  }
}

/// Something that happened to a ride: one row of `ridepulse.events`.
package struct RideEvent: Hashable, Sendable, Codable {
  /// The row's ID; 0 for a slot of time, which has no row.
  package var id: Int64
  /// What happened: `driver_arrived`. For a slot what the rule goes by: `every`, `cron`.
  package var name: String
  /// When it was emitted, by the database's clock.
  package var at: Timestamp
  /// `data`: the JSON text as Postgres gave it.
  package var data: String
  /// Whom the ride named when the event was emitted; nil if that was not recorded.
  package var people: EventPeople?

  /// An event of a ride.
  package init(id: Int64, name: String, at: Timestamp, data: String = "{}") {
    self.id = id
    self.name = name
    self.at = at
    self.data = data
  }

  /// Whether it happened after another event of the same ride.
  ///
  /// IDs order events even if the clock was set back between them; a slot has only its time.
  func isNewer(than other: RideEvent) -> Bool {
    id == 0 || other.id == 0 ? (at, id) > (other.at, other.id) : id > other.id
  }

  /// A memo keeps no people: what waits there knows its recipient.
  private enum CodingKeys: String, CodingKey {
    case id, name, at, data
  }
}

/// A phone that is registered for an app: one row of `ridepulse.devices`.
package struct Phone: Hashable, Sendable {
  /// The row's ID.
  package var id: Int64
  /// The app.
  package var app: App
  /// Whose phone it is.
  package var ownerID: OwnerID
  /// Its address at APNs, as registered; it may turn out not to be a token.
  package var token: String
  /// Which of Apple's worlds the token belongs to; nil where the app did not say.
  package var environment: APNsEnvironment?
  /// The language that the app runs in: `de`, `pt-BR`.
  package var locale: String?
  /// What APNs has said against it; nil where nothing.
  package var problem: PhoneProblem?
  /// When its owner was last heard from (`ridepulse.contact`); nil where nobody said so.
  package var contactedAt: Timestamp?

  /// A phone that is registered for an app.
  package init(
    id: Int64, app: App, ownerID: OwnerID, token: String, environment: APNsEnvironment? = nil,
    locale: String? = nil
  ) {
    self.id = id
    self.app = app
    self.ownerID = ownerID
    self.token = token
    self.environment = environment
    self.locale = locale
  }
}
