package import Base
package import RideCore

/// Something that happens outside of the rules: what `when` of a test or a story states, and a line of
/// a day.
package enum Change: Hashable, Sendable {
  /// A ride's row is inserted, updated or deleted.
  case ride(RideUpdate)
  /// `ridepulse.emit`
  case event(NamedEvent)
  /// `ridepulse.register_device`, or a sign-out.
  case phone(Registration)
  /// `ridepulse.register_live_activity`, or the report that the card is gone.
  case card(Registration)
  /// `ridepulse.register_push_to_start`, or a sign-out.
  case pushToStart(Registration)
  /// `ridepulse.contact`
  case contact(Contact)
  /// `ridepulse.seen` for the last push of a rule to a token; without a token for all pushes of the
  /// rule's last firing, or for those to an owner.
  case seen(PushReference, by: OwnerID? = nil)
  /// `ridepulse.set_preference`
  case preference(Preference)
  /// From now on the service of a platform answers like this, until a time or for good.
  case answers(PushOutcome, until: Timestamp?, of: Platform = .ios)

  /// The ride that it is about; nil if it is about none, or about people.
  var ride: RideID? {
    switch self {
    case .ride(let update): update.id
    case .event(let event): event.ride
    case .card(let registration): registration.ride
    case .seen(let push, _): push.ride
    case .phone, .pushToStart, .contact, .preference, .answers: nil
    }
  }
}

/// An event that something other than a rule emits.
package struct NamedEvent: StoredObject, Hashable, Sendable {
  package var name: String
  /// Nil for an event that is about the people whom its data names.
  package var ride: RideID?
  package var data: [String: JSONValue]

  package init(_ name: String, ride: RideID?, data: [String: JSONValue] = [:]) {
    self.name = name
    self.ride = ride
    self.data = data
  }

  package static var blank: NamedEvent { NamedEvent("", ride: nil) }

  package mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    try fields.field("event", &name)
    try fields.field("ride", &ride)
    var members = data.isEmpty ? nil : data
    try fields.field("data", &members, as: .object)
    data = members ?? [:]
  }

  /// Returns the events of an event about no ride: one for each person whom it names.
  func personal(of apps: [App]) -> [NamedEvent] {
    PersonalEvent.split(JSONValue.object(data).text, apps: apps).map { event in
      var own = NamedEvent(name, ride: RideID(ofPerson: event.ownerID, app: event.app))
      if case .object(let members)? = JSONValue(json: event.data.utf8) { own.data = members }
      return own
    }
  }
}

/// An app's report that it, or its person, is there.
package struct Contact: StoredObject, Hashable, Sendable {
  package var app: App
  /// Nil for the owner of the app's phones whom the ride names.
  package var owner: OwnerID?
  /// Nil if it does not name its phone.
  package var installation: InstallationID?
  package var ride: RideID?

  package init(
    _ app: App, _ owner: OwnerID?, _ installation: InstallationID? = nil, ride: RideID? = nil
  ) {
    self.app = app
    self.owner = owner
    self.installation = installation
    self.ride = ride
  }

  package static var blank: Contact { Contact(.customer, nil) }

  package mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    var owner = owner ?? ""
    try fields.field("app", &app)
    try fields.field("owner_id", &owner)
    try fields.field("installation_id", &installation)
    self.owner = owner
  }
}

/// A person's choice about a topic.
package struct Preference: StoredObject, Hashable, Sendable {
  package var optOut: OptOut
  /// Whether the person takes back having turned it off.
  package var isAllowed = false
  /// The ride whose person it is, if the choice names none.
  package var ride: RideID?

  package init(optOut: OptOut, isAllowed: Bool = false, ofRide ride: RideID? = nil) {
    self.optOut = optOut
    self.isAllowed = isAllowed
    self.ride = ride
  }

  package static var blank: Preference { Preference(optOut: .blank) }

  package mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    try optOut.visit(&fields)
    try fields.field(
      "allowed", &isAllowed, as: .flag, or: StoredFault("missing", expected: "true or false"))
  }
}
