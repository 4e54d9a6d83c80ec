import Base
import RideCore

/// The phones, start tokens, contacts and preferences of a day's people, as of the last line read.
///
/// What APNs answered is not in it: the replays of two rule sets share the people, and each keeps
/// what its own pushes revealed in `TokenStates`.
final class DayPeople {
  private struct Address: Hashable {
    var app: App
    var token: String
  }

  private var phones: [PhoneOwner: [Phone]] = [:]
  private var starts: [PhoneOwner: [StartToken]] = [:]
  private var ownerOfPhone: [Address: OwnerID] = [:]
  private var ownerOfStart: [Address: OwnerID] = [:]
  /// By the ID of a phone or start token.
  private var registrations: [Int64: Timestamp] = [:]
  private var contacts: [PhoneOwner: Timestamp] = [:]
  private var optOuts: [PhoneOwner: Set<Topic>] = [:]
  /// Whether the day has named a phone so far; until then everyone has an invented one.
  private var hasPhones = false
  private let inventsPhones: Bool
  /// The types of the cards that an invented phone can start, by app.
  private let cardTypes: [App: [String]]
  private let start: Timestamp

  /// - Parameter inventsPhones: Whether a person of a day without phones has one.
  init(of configurations: [EngineConfiguration], inventsPhones: Bool, from start: Timestamp) {
    self.inventsPhones = inventsPhones
    self.start = start
    var types: [App: [String]] = [:]
    for card in configurations.flatMap(\.rules.cards) where !card.life.start.isEmpty {
      let type = card.life.attributesType
      if types[card.app]?.contains(type) != true { types[card.app, default: []].append(type) }
    }
    cardTypes = types
  }

  /// Registers or withdraws a phone; its ID is made of the line that first named it.
  ///
  /// - Returns: The phone's ID; nil if it is withdrawn.
  func set(phone line: DayToken, id: Int64, at now: Timestamp) -> Int64? {
    hasPhones = true
    let address = Address(app: line.app, token: line.token)
    var known: Phone?
    if let owner = ownerOfPhone.removeValue(forKey: address) {
      let key = PhoneOwner(line.app, owner)
      known = phones[key]?.first { $0.token == line.token }
      phones[key]?.removeAll { $0.token == line.token }
    }
    if line.isRemoved { return nil }
    var phone = Phone(
      id: known?.id ?? id, app: line.app, ownerID: line.ownerID, token: line.token,
      environment: line.environment, locale: line.locale)
    phone.installationID = line.installationID
    if known?.ownerID == line.ownerID { phone.contactedAt = known?.contactedAt }
    ownerOfPhone[address] = line.ownerID
    phones[PhoneOwner(line.app, line.ownerID), default: []].append(phone)
    registrations[phone.id] = now
    return phone.id
  }

  /// Registers or withdraws a token that starts cards.
  func set(start line: DayToken, id: Int64, at now: Timestamp) {
    let address = Address(app: line.app, token: line.token)
    if let owner = ownerOfStart.removeValue(forKey: address) {
      starts[PhoneOwner(line.app, owner)]?.removeAll { $0.token == line.token }
    }
    if line.isRemoved { return }
    let types = line.attributesType.map { [$0] } ?? cardTypes[line.app] ?? []
    ownerOfStart[address] = line.ownerID
    for (index, type) in types.enumerated() {
      var token = StartToken(
        id: id + Int64(index), app: line.app, ownerID: line.ownerID, attributesType: type,
        token: line.token, environment: line.environment, registeredAt: now)
      token.installationID = line.installationID
      registrations[token.id] = now
      starts[PhoneOwner(line.app, line.ownerID), default: []].append(token)
    }
  }

  /// Returns whether the token that is registered now is invalid.
  func isEnded(by token: TokenInvalidation) -> Bool {
    registrations[token.id].map(token.ends) ?? true
  }

  func contact(_ app: App, _ owner: OwnerID, _ installation: InstallationID?, at now: Timestamp) {
    let key = PhoneOwner(app, owner)
    contacts[key] = now
    guard var own = phones[key] else { return }
    for index in own.indices where own[index].mayBe(installation) { own[index].contactedAt = now }
    phones[key] = own
  }

  func set(_ optOut: OptOut, allowed: Bool) {
    let key = PhoneOwner(optOut.app, optOut.owner)
    if allowed {
      optOuts[key]?.remove(optOut.topic)
    } else {
      optOuts[key, default: []].insert(optOut.topic)
    }
  }

  /// Completes a ride's data, as a claim reads them.
  func complete(_ view: inout RideView, _ states: TokenStates) {
    view.phones.removeAll(keepingCapacity: true)
    view.startTokens.removeAll(keepingCapacity: true)
    view.contacts.removeAll(keepingCapacity: true)
    if !view.optOuts.isEmpty { view.optOuts.removeAll() }
    var people = view.people(of: states.apps)
    var known = Set(people)
    let waiting = view.memo.waiting.compactMap { item in
      item.entry.owner.map { PhoneOwner(item.entry.app, $0) }
    }
    let ofCards = view.cards.map { PhoneOwner($0.app, $0.ownerID) }
    people += (waiting + ofCards).filter { known.insert($0).inserted }
    for person in people { add(person, to: &view, states) }
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

/// What the pushes of one replay revealed about tokens.
struct TokenStates {
  /// The apps of the rules.
  let apps: [App]
  var gonePhones: Set<Int64> = []
  var goneStarts: Set<Int64> = []
  var phones: [Int64: PhoneProblem] = [:]

  init(for rules: RuleSet) {
    apps = Set(rules.apps).union([.customer, .driver]).sorted { $0.rawValue < $1.rawValue }
  }

  /// Records what a settlement reveals, as the database does.
  mutating func record(_ settlement: Settlement, _ people: DayPeople) {
    for token in settlement.invalidations where people.isEnded(by: token) {
      switch token.kind {
      case .phone: gonePhones.insert(token.id)
      case .start: goneStarts.insert(token.id)
      case .activity, .channel: break
      }
    }
    for observation in settlement.observations {
      var problem = phones[observation.phone] ?? PhoneProblem()
      switch observation.kind {
      case .bad(let probe):
        problem.refusals += 1
        problem.probe = problem.probe ?? probe
        problem.isQuarantined = problem.refusals >= PhoneProblem.quarantineAfter
      case .probed: problem.isProbed = true
      case .unprobed(let push): if problem.probe == push { problem.probe = nil }
      case .good: problem = PhoneProblem()
      case .throttled(let until): problem.quietUntil = until.microseconds
      }
      phones[observation.phone] = problem == PhoneProblem() ? nil : problem
    }
  }

  /// Forgets what was known about a phone that registers again.
  mutating func registered(phone: Int64) {
    gonePhones.remove(phone)
    phones[phone] = nil
  }
}
