package import Base

/// An event about no ride, addressed to one person.
///
/// The people of such an event are split when it is emitted: each has an event of their own, in a
/// pseudo ride of their own. So one person's events stay in order, and nothing that is stored for
/// one person names another.
package struct PersonalEvent: Hashable, Sendable {
  package var app: App
  package var ownerID: OwnerID
  /// The JSON object of the event, which names this person alone.
  package var data: String

  /// Returns the event of each person whom the data names by `<app>_id`: as `ridepulse.emit` splits
  /// it in the database.
  package static func split(_ data: String, apps: [App]) -> [PersonalEvent] {
    guard case .object(let members) = JSONValue(json: data.utf8) else { return [] }
    let apps = Set(apps).union([.customer, .driver]).sorted { $0.rawValue < $1.rawValue }
    let rest = members.filter { member in !apps.contains { $0.ownerKey == member.key } }
    return apps.flatMap { app in
      NamedPeople(members[app.ownerKey]).all.map { owner in
        let own = rest.merging([app.ownerKey: .string(owner.text)]) { $1 }
        return PersonalEvent(app: app, ownerID: owner, data: JSONValue.object(own).text)
      }
    }
  }
}

/// The people whom an event's data names for one app: one ID, or a list of IDs.
enum NamedPeople: Equatable {
  /// The data has no such key, or a null or empty one: the event is about the ride's own people.
  case none
  case one(OwnerID)
  /// Without repeats; empty if the list is.
  case several([OwnerID])

  init(_ value: JSONValue?) {
    switch value {
    case nil, .null: self = .none
    case .array(let values):
      var seen: Set<OwnerID> = []
      let owners = values.compactMap(Self.owner).filter { seen.insert($0).inserted }
      self = .several(Array(owners.prefix(Participant.limit)))
    case let value?: self = value.text.isEmpty ? .none : .one(OwnerID(value.text))
    }
  }

  /// Nil for an element that is no ID.
  private static func owner(_ value: JSONValue) -> OwnerID? {
    switch value {
    case .string(let text): text.isEmpty ? nil : OwnerID(text)
    case .integer, .number: OwnerID(value.text)
    default: nil
    }
  }

  var all: [OwnerID] {
    switch self {
    case .none: []
    case .one(let owner): [owner]
    case .several(let owners): owners
    }
  }

  func contains(_ owner: OwnerID) -> Bool {
    switch self {
    case .none: false
    case .one(let named): named == owner
    case .several(let owners): owners.contains(owner)
    }
  }
}

extension App {
  /// The member of an event's data, and of a ride's attributes, that names people of the app.
  package var ownerKey: String { rawValue + "_id" }

  /// Returns the owner in the app's role whom a row names: in a column for the two apps that have one,
  /// otherwise in the attribute `<app>_id`.
  package func owner(
    customer: OwnerID?, driver: OwnerID?, attribute: (String) -> JSONValue?
  ) -> OwnerID? {
    switch self {
    case .customer: customer
    case .driver: driver
    default: attribute(ownerKey).flatMap { $0 == .null ? nil : OwnerID($0.text) }
    }
  }
}

extension RideID {
  private static let personPrefix = "person:"

  /// Creates the ID of a person's pseudo ride, as `ridepulse.raw_ride` does in the database.
  ///
  /// It has only a digest of the owner's ID, because ride IDs are logged.
  package init(ofPerson owner: OwnerID, app: App) {
    let digits = SHA256.hex(SHA256.digest(owner.text.utf8).prefix(16))
    self.init("\(Self.personPrefix)\(app):\(digits)")
  }

  /// Whether it is a person's pseudo ride, unless the service has a ride with this ID.
  package var isOfPerson: Bool { text.utf8.starts(with: Self.personPrefix.utf8) }
}
