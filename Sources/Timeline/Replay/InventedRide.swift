package import Base
package import RideCore

/// Invents what a story does not state: a ride with its people, their phones, and plausible values
/// for everything that the rules name.
package struct InventedRide: Sendable {
  private let rules: RuleSet
  private let start: Timestamp

  package init(for rules: RuleSet, at start: Timestamp) {
    self.rules = rules
    self.start = start
  }

  /// A list of states that can't be read.
  package struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
  }

  /// The pause before a step that states no time.
  private static let usualPause: Duration = .seconds(300)

  /// Returns the story of states and events such as `requested,driver_assigned@2m,driver_arrived`.
  ///
  /// A word without a time follows five minutes after the one before. The driver, and what is known
  /// of the driver, appear with the first state that needs one.
  package func scenario(of text: String) throws(Problem) -> Scenario {
    var ride = Ride(id: "story", state: nil)
    ride.customerID = "customer-1"
    var scenario = Scenario(start: start, view: RideView(rideID: ride.id, ride: ride, phones: []))
    let words = try words(text)
    let arrival = words.first { $0.name.contains("arrived") } ?? words.last
    let pickup = start + (arrival?.after ?? .zero)
    let values = InventedValues(rules: rules, pickup: pickup)
    let driverAppears = words.firstIndex { Self.needsDriver($0.name) } ?? 0
    for (index, word) in words.enumerated() {
      var row = RideUpdate(id: ride.id)
      if index == 0 {
        row.pickupAt = pickup
        row.attributes = values.attributes(ofDriver: false)
      }
      if index == driverAppears {
        row.driverID = "driver-1"
        row.attributes = (row.attributes ?? [:]).merging(values.attributes(ofDriver: true)) { $1 }
      }
      var changes: [Change] = []
      if rules.isState(word.name) {
        row.state = word.name
        changes.append(.ride(row))
      } else {
        if index == 0 || index == driverAppears { changes.append(.ride(row)) }
        let owner: [String: JSONValue] =
          index < driverAppears ? ["driver_id": .string("driver-1")] : [:]
        let data = values.eventData().merging(owner) { old, _ in old }
        changes.append(.event(NamedEvent(word.name, ride: ride.id, data: data)))
      }
      scenario.steps.append(ScenarioStep(at: start + word.after, changes))
    }
    scenario.lacksPhones = true
    return completed(scenario, withCards: true)
  }

  /// Returns a scenario with phones for everyone whom it names, if it leaves them open.
  ///
  /// - Parameter withCards: Whether the phones that are added can be started a card by push.
  package func completed(_ scenario: Scenario, withCards: Bool) -> Scenario {
    var scenario = scenario
    if scenario.lacksPhones {
      for app in rules.apps {
        for owner in scenario.owners(of: app) { addPhone(of: app, owner, withCards, to: &scenario) }
      }
      scenario.showCards()
      scenario.lacksPhones = false
    }
    return scenario
  }

  /// Returns a scenario whose attributes and event data have an invented value for each that the rules
  /// name and it lacks.
  package func filled(_ scenario: Scenario) -> Scenario {
    var scenario = scenario
    let values = InventedValues(rules: rules, pickup: scenario.view.ride?.pickupAt ?? start)
    if var ride = scenario.view.ride {
      let given = scenario.givenAttributes
      let invented = values.attributes(ofDriver: false)
        .merging(values.attributes(ofDriver: true)) { one, _ in one }
      let missing = invented.filter { !given.contains($0.key) }
      ride.set(RideUpdate(id: ride.id, attributes: missing))
      scenario.view.ride = ride
    }
    let data = values.eventData()
    for step in scenario.steps.indices {
      for index in scenario.steps[step].changes.indices {
        guard case .event(var event) = scenario.steps[step].changes[index] else { continue }
        event.data = data.merging(event.data) { _, own in own }
        scenario.steps[step].changes[index] = .event(event)
      }
    }
    return scenario
  }

  private func addPhone(
    of app: App, _ owner: OwnerID, _ withCards: Bool, to scenario: inout Scenario
  ) {
    let id = Int64(scenario.view.phones.count + 1)
    var phone = Registration(app: app, ownerID: owner, token: Self.token("phone", app, id))
    phone.installationID = InstallationID("phone of \(owner)")
    var row = Phone(phone, id: id)
    row.contactedAt = scenario.view.contacts.first { $0.app == app && $0.owner == owner }?.at
    scenario.add(row)
    if withCards { addStarts(of: phone, id, to: &scenario) }
  }

  /// Adds what a push starts a phone's cards with.
  private func addStarts(of phone: Registration, _ id: Int64, to scenario: inout Scenario) {
    var start = phone
    start.token = Self.token("start", phone.app, id)
    for card in rules.cards where card.app == phone.app && !card.life.start.isEmpty {
      scenario.view.startTokens.append(
        StartToken(start, id: id, type: card.life.attributesType, at: scenario.start))
    }
  }

  /// Returns a scenario in which each iPhone can be started a card by push.
  package func withCards(_ scenario: Scenario) -> Scenario {
    var scenario = scenario
    for phone in scenario.view.phones where phone.platform == .ios {
      var row = Registration(app: phone.app, ownerID: phone.ownerID, token: phone.token)
      row.installationID = phone.installationID
      addStarts(of: row, phone.id, to: &scenario)
    }
    return scenario
  }

  /// Returns a token of 64 hexadecimal digits.
  package static func token(_ what: String, _ app: App, _ id: Int64) -> String {
    SHA256.hex(SHA256.digest("\(what) \(app) \(id)".utf8))
  }
}

// The list of states.
extension InventedRide {
  private struct Word {
    var name: String
    var after: Duration
  }

  private func words(_ text: String) throws(Problem) -> [Word] {
    var words: [Word] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let part = String(part).trimmed
      let pieces = part.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(pieces.first ?? "").trimmed
      if name.isEmpty {
        throw Problem(
          description: "a list of states with an empty entry; expected one such as "
            + "requested,driver_assigned@2m,driver_arrived@10m")
      }
      guard rules.knownEvents.contains(name) else {
        throw Problem(
          description: "\(name) is not a state or event of the rule files"
            + suggestion(for: name, among: rules.knownEvents.sorted()))
      }
      let last = words.last?.after
      var after = last.map { $0 + Self.usualPause } ?? .zero
      if pieces.count == 2 {
        let time = String(pieces[1]).trimmed
        guard let stated = time == "0s" ? .zero : Duration(rideText: time) else {
          throw Problem(
            description: "\(part): \(time.quotedBrief) is not a time after the start; expected one "
              + "such as 90s or 1h30m")
        }
        after = stated
      }
      if let last, after < last {
        throw Problem(
          description: "\(part) is before the entry in front of it, at \(last.rideText)")
      }
      words.append(Word(name: name, after: after))
    }
    return words
  }

  /// Returns whether a state names a driver; the states are the service's own.
  private static func needsDriver(_ name: String) -> Bool {
    name.hasPrefix("driver_") || ["assigned", "accepted", "started"].contains { name.contains($0) }
  }
}

extension Scenario {
  /// Returns the owner of an app's phones: of the ride, or the first that a step names.
  package func owner(of app: App) -> OwnerID? { owners(of: app).first }

  /// Returns everyone whose phones the ride or a step names, each once, in the order of time.
  package func owners(of app: App) -> [OwnerID] {
    var ride = view.ride
    var owners: [OwnerID?] = []
    func addPeopleOfRide() {
      owners.append(ride?.owner(of: app))
      owners += (ride?.participants ?? []).filter { $0.app == app }.map(\.ownerID)
    }
    addPeopleOfRide()
    for change in steps.flatMap(\.changes) {
      switch change {
      case .ride(let update):
        ride?.set(update)
        addPeopleOfRide()
      case .event(let event):
        owners += PersonalEvent.split(JSONValue.object(event.data).text, apps: [app])
          .filter { $0.app == app }.map(\.ownerID)
      default: continue
      }
    }
    var seen: Set<OwnerID> = []
    return owners.compactMap { $0 }.filter { seen.insert($0).inserted }
  }

  /// The attributes that the ride or one of the steps has, whatever their value.
  fileprivate var givenAttributes: Set<String> {
    var keys: Set<String> = []
    if case .object(let members)? = view.ride.flatMap({ JSONValue(json: $0.attributes.utf8) }) {
      keys.formUnion(members.keys)
    }
    for change in steps.flatMap(\.changes) {
      if case .ride(let update) = change { keys.formUnion((update.attributes ?? [:]).keys) }
    }
    return keys
  }
}

extension String {
  fileprivate var trimmed: String {
    String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}
