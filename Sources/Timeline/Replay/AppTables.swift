import Base
import RideCore

/// The rows that apps write: rides, phones, tokens that start cards, contacts and preferences.
///
/// A class, because the worlds of two rule sets share it: the second one finds each change applied.
/// What pushes reveal is not in it; each world keeps that in `TokenStates`.
final class AppTables {
  private struct CardKey: Hashable {
    var ride: RideID?
    var app: App
    var activity: String
  }

  private struct Address: Hashable {
    var app: App
    var token: String
  }

  /// What a change makes of a ride's row.
  struct RowChange {
    /// Nil once the row is deleted.
    var ride: Ride?
    /// What the trigger `ride_changed` emits; nil for none.
    var event: RideEvent?
    /// Whether it makes the ride due.
    var isDue: Bool
  }

  /// The rows of all rides so far, those that were deleted included.
  private(set) var rides: [RideID: Ride?] = [:]
  /// The last change of a row, for the second world that applies it, and the ID of its event.
  private var last: (id: Int64, change: RowChange?)?
  private var phones: [PhoneOwner: [Phone]] = [:]
  private var starts: [PhoneOwner: [StartToken]] = [:]
  private var ownerOfPhone: [Address: OwnerID] = [:]
  private var ownerOfStart: [Address: OwnerID] = [:]
  /// The IDs of cards, which keep them when their tokens change.
  private var cards: [CardKey: Int64] = [:]
  /// By the ID of a phone or start token.
  private var registrations: [Int64: Timestamp] = [:]
  private var contacts: [PhoneOwner: Timestamp] = [:]
  private var optOuts: [PhoneOwner: Set<Topic>] = [:]
  /// Whether people's phones report receipts, as far as that is stated.
  private var reporting: [PhoneOwner: Bool] = [:]
  /// Whether the phones of all others report receipts.
  private let assumesReceipts: Bool
  /// Whether a phone was registered so far; until then everyone has an invented one.
  private var hasPhones = false
  private let start: Timestamp
  /// Whether a change of a row emits an event.
  private let emitsEvents: Bool
  private let inventsPhones: Bool
  /// The types of the cards that an invented phone can start, by app.
  private let cardTypes: [App: [String]]
  /// Whether the owners of cards can turn off their topics.
  let cardsHaveTopics: Bool

  /// - Parameters:
  ///   - emitsEvents: Whether a change of a row emits an event.
  ///   - inventsPhones: Whether everyone has a phone as long as none was registered.
  ///   - assumesReceipts: Whether phones report receipts unless it is stated that they do not.
  init(
    for configurations: [EngineConfiguration], from start: Timestamp, emitsEvents: Bool = true,
    inventsPhones: Bool = false, assumesReceipts: Bool = false
  ) {
    self.assumesReceipts = assumesReceipts
    self.start = start
    self.emitsEvents = emitsEvents
    self.inventsPhones = inventsPhones
    cardsHaveTopics = configurations.contains { $0.rules.cardsHaveTopics }
    var types: [App: [String]] = [:]
    for card in configurations.flatMap(\.rules.cards) where !card.life.start.isEmpty {
      let type = card.life.attributesType
      if types[card.app]?.contains(type) != true { types[card.app, default: []].append(type) }
    }
    cardTypes = types
  }

  /// Adds what was there before the start.
  func add(_ view: RideView) {
    rides[view.rideID] = .some(view.ride)
    hasPhones = true
    for phone in view.phones {
      phones[PhoneOwner(phone.app, phone.ownerID), default: []].append(phone)
      ownerOfPhone[Address(app: phone.app, token: phone.token)] = phone.ownerID
      registrations[phone.id] = start
      // It was registered when the app was installed, long before.
      if phone.platform == .android { registrations[phone.id] = start - .seconds(86_400) }
    }
    for token in view.startTokens {
      starts[PhoneOwner(token.app, token.ownerID), default: []].append(token)
      ownerOfStart[Address(app: token.app, token: token.token)] = token.ownerID
      registrations[token.id] = token.registeredAt
    }
    for contact in view.contacts { contacts[PhoneOwner(contact.app, contact.owner)] = contact.at }
    for choice in view.optOuts {
      optOuts[PhoneOwner(choice.app, choice.owner), default: []].insert(choice.topic)
    }
  }

  /// Records whether a phone of a person reports receipts; one of several is enough.
  func setReceipts(of person: PhoneOwner, to reports: Bool) {
    reporting[person] = reports || reporting[person] == true
  }

  func row(of ride: RideID) -> Ride? { rides[ride] ?? nil }

  /// Inserts, updates or deletes a ride's row, as the database's triggers record it; nil if that
  /// changes nothing.
  func update(_ update: RideUpdate, at now: Timestamp, event id: Int64) -> RowChange? {
    if let last, last.id == id { return last.change }
    let change = changed(update, at: now, event: id)
    last = (id, change)
    return change
  }

  private func changed(_ update: RideUpdate, at now: Timestamp, event id: Int64) -> RowChange? {
    let old = row(of: update.id)
    if update.isRemoved {
      guard old != nil else { return nil }
      rides[update.id] = .some(nil)
      let name = InternalEvent.rideRemoved.rawValue
      return RowChange(ride: nil, event: RideEvent(id: id, name: name, at: now), isDue: true)
    }
    var new = old ?? Ride(id: update.id, state: nil)
    new.set(update)
    if let old, new == old, update.updatedAt == nil { return nil }
    new.updatedAt = update.updatedAt ?? now
    // A row that was there before the start emits nothing, and has the times of its states.
    let wasThere = old == nil && update.updatedAt.map { $0 < now } == true
    if !wasThere, let state = new.newState(after: old) { new.entered[state] = now }
    rides[update.id] = new
    let event =
      emitsEvents && !wasThere ? new.changeEvent(after: old, at: now, id: id) : nil
    return RowChange(ride: new, event: event, isDue: event != nil || old == nil)
  }

  /// Registers or withdraws a phone, which keeps its first ID.
  ///
  /// - Returns: The phone's ID; nil if it is withdrawn.
  func set(phone line: Registration, id: Int64, at now: Timestamp) -> Int64? {
    hasPhones = true
    let address = Address(app: line.app, token: line.token)
    var known: Phone?
    if let owner = ownerOfPhone.removeValue(forKey: address) {
      let key = PhoneOwner(line.app, owner)
      known = phones[key]?.first { $0.token == line.token }
      phones[key]?.removeAll { $0.token == line.token }
    }
    if line.isRemoved { return nil }
    if let reports = line.reportsReceipts {
      setReceipts(of: PhoneOwner(line.app, line.ownerID), to: reports)
    }
    var phone = Phone(line, id: known?.id ?? id)
    if known?.ownerID == line.ownerID { phone.contactedAt = known?.contactedAt }
    ownerOfPhone[address] = line.ownerID
    phones[PhoneOwner(line.app, line.ownerID), default: []].append(phone)
    registrations[phone.id] = now
    return phone.id
  }

  func cardID(of card: Registration, else id: Int64) -> Int64 {
    let key = CardKey(ride: card.ride, app: card.app, activity: card.activityID ?? card.token)
    let known = cards[key] ?? id
    cards[key] = known
    return known
  }

  /// Registers or withdraws a token that starts cards.
  func set(start line: Registration, id: Int64, at now: Timestamp) {
    let address = Address(app: line.app, token: line.token)
    if let owner = ownerOfStart.removeValue(forKey: address) {
      starts[PhoneOwner(line.app, owner)]?.removeAll { $0.token == line.token }
    }
    if line.isRemoved { return }
    let types = line.attributesType.map { [$0] } ?? cardTypes[line.app] ?? []
    ownerOfStart[address] = line.ownerID
    for (index, type) in types.enumerated() {
      let token = StartToken(line, id: id + Int64(index), type: type, at: now)
      registrations[token.id] = now
      starts[PhoneOwner(line.app, line.ownerID), default: []].append(token)
    }
  }

  /// Returns whether the token that is registered now is invalid.
  func isEnded(by token: TokenInvalidation) -> Bool {
    if token.kind == .phone, isYoungAndroid(token) { return false }
    return registrations[token.id].map(token.ends) ?? true
  }

  /// Returns whether the token is an Android phone's that was registered within the hour before: FCM
  /// is known to report such phones as gone that receive pushes.
  private func isYoungAndroid(_ token: TokenInvalidation) -> Bool {
    guard let since = token.since, let registered = registrations[token.id],
      registered > since - .seconds(3600)
    else { return false }
    return phones.values.contains { own in
      own.contains { $0.id == token.id && $0.platform == .android }
    }
  }

  func contact(_ contact: Contact, at now: Timestamp) {
    let ofRide = contact.ride.flatMap { row(of: $0)?.owner(of: contact.app) }
    guard let owner = contact.owner ?? ofRide else { return }
    let key = PhoneOwner(contact.app, owner)
    contacts[key] = now
    guard var own = phones[key] else { return }
    for index in own.indices where own[index].mayBe(contact.installation) {
      own[index].contactedAt = now
    }
    phones[key] = own
  }

  /// Records a choice; returns what it is about, or nil if the ride has no such person.
  func set(_ preference: Preference) -> OptOut? {
    var optOut = preference.optOut
    if let ride = preference.ride {
      guard let owner = row(of: ride)?.owner(of: optOut.app) else { return nil }
      optOut.owner = owner
    }
    let key = PhoneOwner(optOut.app, optOut.owner)
    if preference.isAllowed {
      optOuts[key]?.remove(optOut.topic)
    } else {
      optOuts[key, default: []].insert(optOut.topic)
    }
    return optOut
  }

  /// Completes a ride with the data of its people, as a claim reads them.
  func complete(_ view: inout RideView, _ states: TokenStates, of apps: [App]) {
    view.phones.removeAll(keepingCapacity: true)
    view.startTokens.removeAll(keepingCapacity: true)
    view.contacts.removeAll(keepingCapacity: true)
    if !view.optOuts.isEmpty { view.optOuts.removeAll() }
    var people = view.people(of: apps)
    var known = Set(people)
    let waiting = view.memo.waiting.compactMap { item in
      item.entry.owner.map { PhoneOwner(item.entry.app, $0) }
    }
    let ofCards = view.cards.map { PhoneOwner($0.app, $0.ownerID) }
    people += (waiting + ofCards).filter { known.insert($0).inserted }
    for person in people { add(person, to: &view, states) }
    view.reporters = view.memo.escalationOwners.filter {
      states.reporters.contains($0) || reporting[$0] ?? assumesReceipts
    }
  }

  private func add(_ person: PhoneOwner, to view: inout RideView, _ states: TokenStates) {
    let isInvented = inventsPhones && !hasPhones
    for var phone in isInvented ? [invented(person)] : phones[person] ?? [] {
      if states.gonePhones.contains(phone.id) { continue }
      phone.problem = states.phones[phone.id]
      view.phones.append(phone)
    }
    let tokens = isInvented ? inventedStarts(person) : starts[person] ?? []
    for token in tokens where !states.goneStarts.contains(token.id) {
      view.startTokens.append(token)
    }
    if let at = contacts[person] {
      view.contacts.append(OwnerContact(app: person.app, owner: person.owner, at: at))
    }
    for topic in optOuts[person] ?? [] {
      view.optOuts.insert(OptOut(app: person.app, owner: person.owner, topic: topic))
    }
  }

  private func invented(_ person: PhoneOwner) -> Phone {
    let id = inventedID(person, "phone")
    var phone = Phone(
      id: id, app: person.app, ownerID: person.owner, token: Self.token(id), environment: nil)
    phone.installationID = InstallationID("phone of \(person.owner)")
    return phone
  }

  private func inventedStarts(_ person: PhoneOwner) -> [StartToken] {
    (cardTypes[person.app] ?? []).map { type in
      let id = inventedID(person, type)
      var token = StartToken(
        id: id, app: person.app, ownerID: person.owner, attributesType: type,
        token: Self.token(id), registeredAt: start)
      token.installationID = InstallationID("phone of \(person.owner)")
      return token
    }
  }

  private func inventedID(_ person: PhoneOwner, _ what: String) -> Int64 {
    let bits = PushID(of: what, person.app.rawValue, person.owner.text).bits
    return Int64(truncatingIfNeeded: bits & 0x7fff_ffff_ffff_ffff)
  }

  /// Returns 16 hexadecimal digits: a token needs no more to be told apart.
  private static func token(_ id: Int64) -> String { String(id, radix: 16, width: 16) }
}
