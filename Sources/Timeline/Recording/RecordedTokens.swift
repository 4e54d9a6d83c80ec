import Base
import RideCore

/// The tokens, contacts and preferences that a recorded day has so far.
struct RecordedTokens {
  private var phones: [String: DayToken] = [:]
  /// The tokens of each person's phones.
  private var tokensOf: [Participant: Set<String>] = [:]
  private var cards: [String: DayToken] = [:]
  private var starts: [String: DayToken] = [:]
  private var contacts: [ContactKey: Timestamp] = [:]
  private var optOuts: [Participant: Set<OptOut>] = [:]

  private struct ContactKey: Hashable {
    var owner: Participant
    var installation: InstallationID?
  }

  /// Returns the lines of what a pass read and the day does not have yet.
  ///
  /// - Parameter ride: The pseudonym of the pass' ride; nil if the day has no line of its row.
  mutating func changes(
    in pass: RecordedFields, of ride: RideID?, _ names: Pseudonyms
  ) -> [DayLine.Content] {
    var lines: [DayLine.Content] = []
    let present = pass.list("phones").compactMap { DayToken($0, names) }
    for phone in present where phones[phone.token] != phone {
      phones[phone.token] = phone
      tokensOf[phone.person, default: []].insert(phone.token)
      lines.append(.phone(phone))
    }
    let people = Self.people(in: pass, names).union(present.map(\.person))
    if !pass.flag("is_part") {
      for person in people.sorted(by: Self.precedes) { lines += remove(person, except: present) }
    }
    for var card in pass.list("cards").compactMap({ DayToken($0, names) }) {
      guard let ride else { break }
      card.ride = ride
      let key = card.activityID ?? card.token
      if cards[key] == card || card.isRemoved && cards[key] == nil { continue }
      cards[key] = card
      lines.append(.card(card))
    }
    for start in pass.list("starts").compactMap({ DayToken($0, names) })
    where starts[start.token] != start {
      starts[start.token] = start
      lines.append(.pushToStart(start))
    }
    return lines + preferences(in: pass, people, names)
  }

  /// The phones of a person that a pass no longer read were signed out, or are another person's now.
  private mutating func remove(_ person: Participant, except present: [DayToken]) -> [DayLine
    .Content]
  {
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
    in pass: RecordedFields, _ people: Set<Participant>, _ names: Pseudonyms
  ) -> [DayLine.Content] {
    var off: [Participant: Set<OptOut>] = [:]
    for fields in pass.list("opt_outs") {
      guard let person = Participant(fields, names), let topic = fields.text("topic") else {
        continue
      }
      off[person, default: []].insert(
        OptOut(app: person.app, owner: person.ownerID, topic: Topic(topic)))
    }
    var lines: [DayLine.Content] = []
    for person in people.union(off.keys).sorted(by: Self.precedes) {
      let (before, now) = (optOuts[person] ?? [], off[person] ?? [])
      if before == now { continue }
      for (topics, isAllowed) in [
        (now.subtracting(before), false), (before.subtracting(now), true),
      ] {
        for topic in topics.sorted(by: { $0.topic.text < $1.topic.text }) {
          lines.append(.preference(topic, allowed: isAllowed))
        }
      }
      optOuts[person] = now
    }
    return lines
  }

  /// Returns the contacts that a pass read and the day does not have yet.
  mutating func contacts(
    in pass: RecordedFields, _ names: Pseudonyms
  ) -> [(line: DayLine.Content, at: Timestamp)] {
    var lines: [(line: DayLine.Content, at: Timestamp)] = []
    let phones = pass.list("phones").compactMap { fields -> (DayToken, Timestamp?)? in
      DayToken(fields, names).map { ($0, fields.time("contacted_at")) }
    }
    for case (let phone, let at?) in phones {
      // A contact of all of a person's phones named none of them.
      let isOfAll = phones.allSatisfy { $0.0.person != phone.person || $0.1 == at }
      let installation = isOfAll ? nil : phone.installationID
      addContact(phone.person, installation, at, &lines)
    }
    for fields in pass.list("contacts") {
      guard let person = Participant(fields, names), let at = fields.time("at") else { continue }
      if phones.contains(where: { $0.0.person == person && $0.1 == at }) { continue }
      // No phone that was read made it, so none may be taken for it.
      let reads = phones.contains { $0.0.person == person && $0.1 != nil }
      addContact(person, reads ? InstallationID(names.id(.installation, "")) : nil, at, &lines)
    }
    return lines
  }

  private mutating func addContact(
    _ person: Participant, _ installation: InstallationID?, _ at: Timestamp,
    _ lines: inout [(line: DayLine.Content, at: Timestamp)]
  ) {
    let key = ContactKey(owner: person, installation: installation)
    if let last = contacts[key], last >= at { return }
    contacts[key] = at
    lines.append((.contact(person.app, person.ownerID, installation), at))
  }

  /// The people whom the row names: their phones were read, even if there is none any more.
  private static func people(
    in pass: RecordedFields, _ names: Pseudonyms
  ) -> Set<Participant> {
    guard let row = pass["ride"].map(RecordedFields.init) else { return [] }
    var people = Set(row.list("participants").compactMap { Participant($0, names) })
    for app in [App.customer, .driver] {
      guard let owner = row.text(app.ownerKey) else { continue }
      people.insert(Participant(app: app, ownerID: OwnerID(names.id(.owner, owner))))
    }
    return people
  }

  private static func precedes(_ left: Participant, _ right: Participant) -> Bool {
    (left.app.rawValue, left.ownerID) < (right.app.rawValue, right.ownerID)
  }
}

extension DayToken {
  fileprivate var person: Participant { Participant(app: app, ownerID: ownerID) }
}
