import Base
import RideCore

/// The tokens, contacts and preferences that a recorded day has so far.
struct RecordedTokens {
  private var phones: [String: Registration] = [:]
  /// The tokens of each person's phones.
  private var tokensOf: [Participant: Set<String>] = [:]
  private var cards: [String: Registration] = [:]
  private var starts: [String: Registration] = [:]
  private var contacts: [ContactKey: Timestamp] = [:]
  private var optOuts: [Participant: Set<OptOut>] = [:]
  private var reporters: Set<Participant> = []

  private struct ContactKey: Hashable {
    var owner: Participant
    var installation: InstallationID?
  }

  /// Returns the lines of what a pass read and the day does not have yet.
  ///
  /// - Parameter ride: The pseudonym of the pass' ride; nil if the day has no line of its row.
  mutating func changes(
    in pass: PassContent, of ride: RideID?, _ names: Pseudonyms
  ) -> [Change] {
    var lines: [Change] = []
    lines += receipts(in: pass, names)
    let present = pass.phones.map { row in
      var phone = names.registration(row.record)
      if reporters.contains(phone.person) { phone.reportsReceipts = true }
      return phone
    }
    for phone in present where phones[phone.token] != phone {
      phones[phone.token] = phone
      tokensOf[phone.person, default: []].insert(phone.token)
      lines.append(.phone(phone))
    }
    let people = Self.people(in: pass, names).union(present.map(\.person))
    if !pass.isPart {
      for person in people.sorted(by: Self.precedes) { lines += remove(person, except: present) }
    }
    for row in pass.cards {
      guard let ride else { break }
      var card = names.registration(row.record)
      card.ride = ride
      let key = card.activityID ?? card.token
      if cards[key] == card || card.isRemoved && cards[key] == nil { continue }
      cards[key] = card
      lines.append(.card(card))
    }
    for row in pass.starts {
      let start = names.registration(row.record)
      if starts[start.token] == start { continue }
      starts[start.token] = start
      lines.append(.pushToStart(start))
    }
    return lines + preferences(in: pass, people, names)
  }

  /// Returns the lines of phones of which a pass shows that they report receipts.
  private mutating func receipts(in pass: PassContent, _ names: Pseudonyms) -> [Change] {
    pass.reporters.flatMap { row -> [Change] in
      let person = names.person(row.record)
      guard reporters.insert(person).inserted else { return [] }
      return tokensOf[person, default: []].sorted().compactMap { token in
        guard phones[token]?.person == person else { return nil }
        phones[token]?.reportsReceipts = true
        return phones[token].map { .phone($0) }
      }
    }
  }

  /// The phones of a person that a pass no longer read were signed out, or are another person's now.
  private mutating func remove(_ person: Participant, except present: [Registration]) -> [Change] {
    let kept = Set(present.lazy.filter { $0.person == person }.map(\.token))
    let gone = tokensOf[person, default: []].subtracting(kept)
    if gone.isEmpty { return [] }
    tokensOf[person]?.subtract(gone)
    return gone.sorted().compactMap { token in
      guard var phone = phones[token], phone.person == person else { return nil }
      phones[token] = nil
      phone.isRemoved = true
      return .phone(phone)
    }
  }

  private mutating func preferences(
    in pass: PassContent, _ people: Set<Participant>, _ names: Pseudonyms
  ) -> [Change] {
    var off: [Participant: Set<OptOut>] = [:]
    for var optOut in pass.optOuts {
      optOut.owner = names.owner(optOut.owner)
      off[Participant(app: optOut.app, ownerID: optOut.owner), default: []].insert(optOut)
    }
    var lines: [Change] = []
    for person in people.union(off.keys).sorted(by: Self.precedes) {
      let (before, now) = (optOuts[person] ?? [], off[person] ?? [])
      if before == now { continue }
      for (topics, isAllowed) in [
        (now.subtracting(before), false), (before.subtracting(now), true),
      ] {
        for topic in topics.sorted(by: { $0.topic.text < $1.topic.text }) {
          lines.append(.preference(Preference(optOut: topic, isAllowed: isAllowed)))
        }
      }
      optOuts[person] = now
    }
    return lines
  }

  /// Returns the contacts that a pass read and the day does not have yet.
  mutating func contacts(
    in pass: PassContent, _ names: Pseudonyms
  ) -> [(change: Change, at: Timestamp)] {
    var lines: [(change: Change, at: Timestamp)] = []
    let phones = pass.phones.map { (names.registration($0.record), $0.at) }
    for case (let phone, let at?) in phones {
      // A contact of all of a person's phones named none of them.
      let isOfAll = phones.allSatisfy { $0.0.person != phone.person || $0.1 == at }
      let installation = isOfAll ? nil : phone.installationID
      addContact(phone.person, installation, at, &lines)
    }
    for row in pass.contacts {
      let person = names.person(row.record)
      guard let at = row.at else { continue }
      if phones.contains(where: { $0.0.person == person && $0.1 == at }) { continue }
      // No phone that was read made it, so none may be taken for it.
      let reads = phones.contains { $0.0.person == person && $0.1 != nil }
      addContact(person, reads ? names.installation("") : nil, at, &lines)
    }
    return lines
  }

  private mutating func addContact(
    _ person: Participant, _ installation: InstallationID?, _ at: Timestamp,
    _ lines: inout [(change: Change, at: Timestamp)]
  ) {
    let key = ContactKey(owner: person, installation: installation)
    if let last = contacts[key], last >= at { return }
    contacts[key] = at
    lines.append((.contact(Contact(person.app, person.ownerID, installation)), at))
  }

  /// The people whom the row names: their phones were read, even if there is none any more.
  private static func people(in pass: PassContent, _ names: Pseudonyms) -> Set<Participant> {
    guard let row = pass.ride else { return [] }
    let owners = [
      (row.customerID ?? nil).map { Participant(app: .customer, ownerID: $0) },
      (row.driverID ?? nil).map { Participant(app: .driver, ownerID: $0) },
    ]
    return Set((owners.compactMap(\.self) + (row.participants ?? [])).map(names.person))
  }

  private static func precedes(_ left: Participant, _ right: Participant) -> Bool {
    (left.app.rawValue, left.ownerID) < (right.app.rawValue, right.ownerID)
  }
}

extension Registration {
  var person: Participant { Participant(app: app, ownerID: ownerID) }
}
