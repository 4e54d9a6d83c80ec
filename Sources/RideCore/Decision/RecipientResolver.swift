package import Base

/// Finds who receives an app's pushes about an event, and which row of the ride their texts show.
///
/// An event is addressed to the owner that the ride named when it was emitted, however late it is
/// handled, and to those who participate when it is handled. If the ride names another person by
/// then, texts to the former one show the row as it was for them.
struct RecipientResolver {
  /// The owner whose phones are addressed, and the row for their texts.
  struct Recipient: Equatable {
    var owner: OwnerID
    /// The row that the texts show; nil means the present one.
    var image: RideImage?
    /// Whether the ride names the owner as a participant only.
    var isParticipant = false
  }

  /// The people of one app who receive an event's pushes. The first one is apart, because most
  /// events concern one person, for whom no list is made.
  struct Recipients: Equatable {
    /// Nil if the event concerns no person of the app.
    var first: Recipient?
    var others: [Recipient] = []
  }

  /// Events that replaced or removed one of the ride's people, oldest first.
  private let changes: [(id: Int64, former: RideImage)]

  init(_ events: [RideEvent]) {
    changes = events.compactMap { event in event.people?.former.map { (event.id, $0) } }
  }

  /// Whether one of these events changed the ride's people.
  var haveChanged: Bool { !changes.isEmpty }

  /// Returns the recipients of an app's pushes about an event: those whom its data names, otherwise
  /// the ride's owner in the app's role and every participant of the app.
  ///
  /// An event's data may name others with the key `<app>_id`, as an offer does:
  /// `{"driver_id": "d9"}`, `{"driver_id": ["d7", "d8"]}`.
  func recipients(of app: App, in context: TemplateContext) -> Recipients {
    switch Self.named(app, by: context) {
    case .one(let owner): return Recipients(first: Recipient(owner: owner))
    case .several(let owners):
      return Recipients(
        first: owners.first.map { Recipient(owner: $0) },
        others: owners.dropFirst().map { Recipient(owner: $0) })
    case .none: break
    }
    let first = owner(of: app, in: context)
    if context.ride.participants.isEmpty { return Recipients(first: first) }
    let others = context.ride.participants
      .filter { $0.app == app && $0.ownerID != first?.owner }
      .map { Recipient(owner: $0.ownerID, isParticipant: true) }
    if first != nil { return Recipients(first: first, others: others) }
    return Recipients(first: others.first, others: Array(others.dropFirst()))
  }

  /// Returns the owner in the app's role, who receives an event whose data names no person.
  ///
  /// The owner for an app other than customer and driver is the ride's attribute `<app>_id`.
  private func owner(of app: App, in context: TemplateContext) -> Recipient? {
    let present = Self.present(app, in: context)
    // A slot uses the present row.
    if context.event.id == 0 { return present.map { Recipient(owner: $0) } }
    let next = image(after: context.event)
    let removed = context.event.people?.former.flatMap { Self.owner(app, $0) }
    let left = next.flatMap { Self.owner(app, $0) } ?? present
    // The row's columns are recorded with each event, attributes only when they change.
    let owner =
      app == .customer || app == .driver
      ? Self.recorded(app, context.event) ?? removed ?? left : left ?? removed
    guard let owner else { return nil }
    if owner == present { return Recipient(owner: owner) }
    let images = [next, context.event.people?.former].compactMap(\.self)
    return Recipient(owner: owner, image: Self.image(of: owner, app, among: images))
  }

  /// Returns the recipient of a push that goes again and was addressed to `owner` before.
  func recipient(_ owner: OwnerID, of app: App, in context: TemplateContext, _ known: RideImage?)
    -> Recipient
  {
    if Self.named(app, by: context).contains(owner) || Self.isPresent(owner, app, in: context) {
      return Recipient(owner: owner)
    }
    let later = changes.lazy.filter { $0.id > context.event.id }.map(\.former)
    return Recipient(
      owner: owner,
      image: known ?? Self.image(of: owner, app, among: Array(later)))
  }

  /// Returns the row as an event left it, if the ride's people changed later.
  private func image(after event: RideEvent) -> RideImage? {
    changes.first { $0.id > event.id }?.former
  }

  /// Returns the row that named a former owner.
  ///
  /// If the change was handled earlier, no row is left: then texts show nothing of the ride but its
  /// ID and this person.
  private static func image(of owner: OwnerID, _ app: App, among images: [RideImage]) -> RideImage {
    images.first { Self.owner(app, $0) == owner }
      ?? RideImage(
        customer: app == .customer ? owner : nil, driver: app == .driver ? owner : nil)
  }

  static func named(_ app: App, by context: TemplateContext) -> NamedPeople {
    NamedPeople(context.datum(app.ownerKey))
  }

  /// Returns whether the ride names a person now, in the app's role or as a participant.
  static func isPresent(_ owner: OwnerID, _ app: App, in context: TemplateContext) -> Bool {
    present(app, in: context) == owner
      || context.ride.participants.contains { $0.isPerson(owner, app) }
  }

  /// Returns the owner that the present row names in the app's role.
  static func present(_ app: App, in context: TemplateContext) -> OwnerID? {
    app.owner(
      customer: context.ride.customerID, driver: context.ride.driverID,
      attribute: context.attribute)
  }

  private static func recorded(_ app: App, _ event: RideEvent) -> OwnerID? {
    switch app {
    case .customer: event.people?.customer
    case .driver: event.people?.driver
    default: nil
    }
  }

  static func owner(_ app: App, _ image: RideImage) -> OwnerID? {
    app.owner(customer: image.customer, driver: image.driver) { key in
      JSONValue(json: image.attributes.utf8)?.value(at: [key])
    }
  }
}

extension RideView {
  /// Returns the owners whose phones a decision about an event of this ride addresses, by app.
  package func owners(of apps: [App], on event: RideEvent) -> [PhoneOwner] {
    guard let ride = ride ?? pseudoRide else { return [] }
    let context = TemplateContext(
      ride: ride, attributes: JSONValue(json: ride.attributes.utf8), event: event)
    let resolver = RecipientResolver([event])
    return apps.flatMap { app in
      let people = resolver.recipients(of: app, in: context)
      return ([people.first].compactMap(\.self) + people.others).map { PhoneOwner(app, $0.owner) }
    }
  }

  /// Returns everyone whom a decision may address, each once, except for pushes that wait: those
  /// whom the row names now, and those whom its events name, or named before they changed.
  package func people(of apps: [App]) -> [PhoneOwner] {
    var people = People(of: apps)
    if let ride {
      people.add(ride.customerID, ride.driverID, ride.attributes)
      for person in ride.participants { people.add(person.app, person.ownerID) }
    }
    for event in events {
      if let row = event.people?.former { people.add(row.customer, row.driver, row.attributes) }
      people.add(.customer, event.people?.customer)
      people.add(.driver, event.people?.driver)
      guard event.data != "{}", let data = JSONValue(json: event.data.utf8) else { continue }
      for app in apps {
        for owner in NamedPeople(data.value(at: [app.ownerKey])).all { people.add(app, owner) }
      }
    }
    return people.list
  }

  /// People, each once, in the order in which they are added.
  private struct People {
    /// The apps whose owners attributes name.
    private let further: [App]
    private(set) var list: [PhoneOwner] = []
    /// The same people once there are many: a short list is searched faster.
    private var set: Set<PhoneOwner> = []

    init(of apps: [App]) {
      further = apps.filter { $0 != .customer && $0 != .driver }
    }

    /// Adds the owners that a row names.
    mutating func add(_ customer: OwnerID?, _ driver: OwnerID?, _ attributes: String) {
      add(.customer, customer)
      add(.driver, driver)
      guard !further.isEmpty, let values = JSONValue(json: attributes.utf8) else { return }
      for app in further {
        add(app, app.owner(customer: nil, driver: nil) { values.value(at: [$0]) })
      }
    }

    mutating func add(_ app: App, _ owner: OwnerID?) {
      guard let owner else { return }
      let person = PhoneOwner(app, owner)
      if list.count < 8 {
        if !list.contains(person) { list.append(person) }
        return
      }
      if set.isEmpty { set = Set(list) }
      if set.insert(person).inserted { list.append(person) }
    }
  }
}

/// A person in the role of one app's user.
package struct PhoneOwner: Hashable, Sendable {
  package let app: App
  package let owner: OwnerID

  init(_ phone: Phone) {
    app = phone.app
    owner = phone.ownerID
  }

  package init(_ app: App, _ owner: OwnerID) {
    self.app = app
    self.owner = owner
  }
}

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
    left === right
      || left.customer == right.customer && left.driver == right.driver
        && left.former == right.former
  }

  /// Hashes only the people, not the former row.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(customer)
    hasher.combine(driver)
  }
}

/// A ride's row before its people changed, from which texts to its former people are rendered.
package final class RideImage: Hashable, Sendable {
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
