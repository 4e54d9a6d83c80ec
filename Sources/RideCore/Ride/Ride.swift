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

  package init(app: App, ownerID: OwnerID) {
    self.app = app
    self.ownerID = ownerID
  }

  /// The maximum number of participants of a ride, and of people whom one event names: all phones
  /// of an event are read at once.
  package static let limit = 1000
}

/// An event of a ride: one row of `ridepulse.events`.
package struct RideEvent: Hashable, Sendable {
  /// The row's ID; 0 for a time slot, which has no row.
  package var id: Int64
  /// The event's name, such as `driver_arrived`; for a time slot the rule's trigger: `every`,
  /// `cron`.
  package var name: String
  /// When it was emitted, by the database's clock.
  package var at: Timestamp
  /// The JSON text from Postgres.
  package var data: String
  /// The people that the ride named when the event was emitted; nil if they were not recorded.
  package var people: EventPeople?

  package init(id: Int64, name: String, at: Timestamp, data: String = "{}") {
    self.id = id
    self.name = name
    self.at = at
    self.data = data
  }

  /// Returns whether the event happened after another event of the same ride.
  ///
  /// IDs order events even if the clock was set back between them; a slot has only its time.
  func isNewer(than other: RideEvent) -> Bool {
    id == 0 || other.id == 0 ? (at, id) > (other.at, other.id) : id > other.id
  }
}

/// What identifies an event's row.
///
/// The ID alone does not: after the promotion of an asynchronous standby, the ID of a lost event may
/// be given to a later one.
package struct EventKey: Hashable, Sendable {
  package var id: Int64
  package var at: Timestamp
}

extension RideEvent {
  package var key: EventKey { EventKey(id: id, at: at) }

  /// The event in the ledger of a push that no event of the ride caused.
  static func refresh(at now: Timestamp) -> RideEvent {
    RideEvent(id: 0, name: "refresh", at: now)
  }
}

/// A phone that is registered for an app: one row of `ridepulse.devices`.
package struct Phone: Hashable, Sendable {
  package var id: Int64
  package var app: App
  package var ownerID: OwnerID
  /// Its address at APNs as registered, which may turn out not to be a token.
  package var token: String
  /// The APNs environment of the token; nil if the app did not specify it.
  package var environment: APNsEnvironment?
  /// The language that the app runs in, such as `de` or `pt-BR`.
  package var locale: String?
  /// The problems that APNs reported for the phone; nil if there are none.
  package var problem: PhoneProblem?
  /// When it, or its owner on an unknown phone, last made contact (`ridepulse.contact`); nil if no
  /// contact was recorded.
  package var contactedAt: Timestamp?
  /// The app's installation; nil if the app did not name it.
  package var installationID: InstallationID?

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

/// An ID chosen by a service, or another external text that serves as a key.
///
/// Two identifiers are equal if their bytes are, as in Postgres and at APNs. Swift compares strings
/// by canonical equivalence: rides `é` and `e` with a combining accent would be one, and one
/// customer would receive the other's pushes.
package protocol Identifier: Hashable, Comparable, Sendable, StoredValue,
  CustomStringConvertible, ExpressibleByStringInterpolation
where StringLiteralType == String {
  /// The ID as the service wrote it.
  var text: String { get }

  init(_ text: String)
}

extension Identifier {
  package init(stringLiteral value: String) { self.init(value) }

  package var description: String { text }

  /// Compares the bytes.
  package static func == (left: Self, right: Self) -> Bool {
    left.text.hasBytes(of: right.text)
  }

  package func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }

  /// Orders by bytes.
  package static func < (left: Self, right: Self) -> Bool {
    left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
  }
}

// In place: iterating over `utf8` is several times slower.
extension String {
  /// Whether the UTF-8 bytes are the same; `==` takes texts for equal that only look the same.
  func hasBytes(of other: String) -> Bool {
    let (left, right) = (utf8Span.span, other.utf8Span.span)
    guard left.count == right.count else { return false }
    for index in left.indices where left[index] != right[index] { return false }
    return true
  }

  /// Hashes the UTF-8 bytes, eight at a time.
  func hashBytes(into hasher: inout Hasher) {
    let bytes = utf8Span.span
    var word: UInt64 = 0
    for index in bytes.indices {
      word = word << 8 | UInt64(bytes[index])
      if index & 7 == 7 { hasher.combine(word) }
    }
    hasher.combine(word)
    hasher.combine(bytes.count)
  }
}

/// A value of `ridepulse.rides.id`.
package struct RideID: Identifier {
  package let text: String

  package init(_ text: String) { self.text = text }
}

/// One installation of an app on one phone: it tells which phone a card is shown on.
package struct InstallationID: Identifier {
  package let text: String

  package init(_ text: String) { self.text = text }
}

/// The owner of a phone: a ride's `customer_id`, its `driver_id`, or `<app>_id` in its attributes.
package struct OwnerID: Identifier {
  package let text: String

  package init(_ text: String) { self.text = text }
}
