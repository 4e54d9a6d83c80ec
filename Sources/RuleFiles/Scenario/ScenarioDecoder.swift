import Base
import RideCore
import Timeline

/// Decodes `given` and `when`.
struct ScenarioDecoder {
  let diagnostics: Diagnostics
  let rules: RuleSet
  /// Whether it reads a test, which alone shows what phones do.
  var isOfTest = false

  func story(_ fields: Fields, at start: Timestamp) -> Scenario {
    let given = fields.value("given", .later(.mapping(ScenarioKeys.given)))
    let when = fields.value(
      "when", .mappings(ScenarioKeys.step),
      required: "when: a list such as [{ at: 10m, state: driver_arrived }]")
    let length = fields.value("for", .duration(such: "10m or 1h30m"))
    return scenario(given: given, when: when, length: length, at: start)
  }

  /// Decodes what APNs answers in a rehearsal.
  func faults(_ fields: Fields, from start: Timestamp) -> [ScenarioStep] {
    let when = fields.value(
      "when", .mappings(ScenarioKeys.step),
      required: "when: a list such as [{ at: 9h, apns: { status: 503, for: 3m } }]")
    return steps(when, start, of: "")
  }

  func scenario(
    given: Field?, when: [Fields]?, length: Duration?, at start: Timestamp
  ) -> Scenario {
    let form = ScenarioKeys.given
    let fields = given.flatMap(ValueType.mapping(form).read)
    var scenario = self.given(fields ?? Fields(form), at: start) { start, ride in
      steps(when, start, of: ride)
    }
    scenario.length = length
    return scenario
  }

  /// - Parameters:
  ///   - usual: When a scenario begins that states no time.
  ///   - steps: What happens, which may name the owner of a phone first.
  func given(
    _ fields: Fields, at usual: Timestamp,
    steps: (Timestamp, RideID?) -> [ScenarioStep] = { _, _ in [] }
  ) -> Scenario {
    let start = fields.value("at", .instant) ?? usual
    let field = fields.value("ride", .later(.mapping(ScenarioKeys.ride)))
    let hasRide = field?.node.string != "none"
    let row = hasRide ? field.flatMap(ValueType.mapping(ScenarioKeys.ride).read) : nil
    var ride = row.map { self.ride($0, at: start) } ?? Ride(id: "story", state: nil)
    ride.updatedAt = start
    if let state = ride.state { ride.entered[state] = start }
    var scenario = Scenario(
      start: start, view: RideView(rideID: ride.id, ride: hasRide ? ride : nil, phones: []))
    scenario.steps = steps(start, scenario.view.ride?.id)
    addPhones(fields, to: &scenario)
    addPeople(fields, to: &scenario)
    return scenario
  }

  func ride(_ fields: Fields, at start: Timestamp) -> Ride {
    let id = fields.value("id", .plainText) ?? "story"
    var ride = Ride(id: RideID(id), state: nil)
    ride.set(columns(fields, start, of: ride.id))
    return ride
  }

  // MARK: when

  /// Decodes `when`; the entries must be in the order of time.
  ///
  /// - Parameter ride: The ride that they are about; nil if they are about people only.
  private func steps(_ entries: [Fields]?, _ start: Timestamp, of ride: RideID?) -> [ScenarioStep] {
    (entries ?? []).reduce(into: []) { steps, entry in
      let step = step(entry, from: start, after: steps.last?.at, of: ride)
      if let step { steps.append(step) }
    }
  }

  func step(
    _ entry: Fields, from start: Timestamp, after last: Timestamp?, of ride: RideID?
  ) -> ScenarioStep? {
    let time = entry.value("at", .later(.rideTime), required: "at: 10m, or 0s at the start")
    let at = time.flatMap(ValueType.time(from: start).read)
    if at == nil, !entry.listsKeys { return nil }
    let changes = changes(entry, start, at ?? start, of: ride)
    guard let time, let at else { return nil }
    if let last, at < last {
      diagnostics.report(
        time.location, "an entry before the one above it",
        expected: "the entries of when in the order of time")
    }
    if entry.keys.count == 1 {
      diagnostics.report(
        entry.location, "an entry in which nothing happens",
        expected: "state, event, attributes, contact, seen, preference, apns or fcm next to at")
    }
    return ScenarioStep(at: at, changes)
  }

  private func changes(
    _ entry: Fields, _ start: Timestamp, _ at: Timestamp, of ride: RideID?
  ) -> [Change] {
    for field in entry.present(entry.keys) {
      let needed = field.key.nextTo
      if !needed.isEmpty, entry.present(needed).isEmpty {
        entry.reportMisplaced(field, "in an entry without \(quoted(needed[0]))")
      }
    }
    let event = event(entry, of: ride)
    let app = entry.value("contact", .word(.app)).map { App(rawValue: $0.text) }
    let rule = entry.value("seen", .word(.ruleName))
    let owner = entry.value(
      "owner_id", .owner, nextTo: ["contact", "seen"], otherwise: "it next to contact or seen")
    let installation = entry.value(
      "installation_id", .installation, nextTo: ["contact"], otherwise: "it next to contact")
    let preference = entry.value("preference", .mapping(ScenarioKeys.preference))
      .flatMap { self.preference($0, ride) }
    var changes = answers(entry, at)
    let columns = columns(entry, start, of: ride ?? "")
    if ride == nil {
      reportRide(entry)
      if app != nil, owner == nil { requireOwner(entry) }
    } else if columns != RideUpdate(id: columns.id) {
      changes.append(.ride(columns))
    }
    if let event { changes.append(.event(event)) }
    if let app { changes.append(.contact(Contact(app, owner, installation, ride: ride))) }
    if let preference { changes.append(.preference(preference)) }
    if let rule, isKnown(rule, "seen"), let ride {
      let push = PushReference(ride: ride, rule: rule.text, token: nil)
      changes.append(.seen(push, by: owner))
    }
    return changes
  }

  private func event(_ entry: Fields, of ride: RideID?) -> NamedEvent? {
    let field = entry.value("event", .later(.word(.event)))
    let data = entry.value("data", .members, nextTo: ["event"], otherwise: "it next to event")
    let other: RideOfEvent? = entry.value(
      "ride", .choice, nextTo: ["event"], otherwise: "it next to event")
    guard let field, let name = ValueType.word(.event).read(field),
      isKnown(name, among: rules.knownEvents.sorted(), "event names the unknown event")
    else { return nil }
    let event = NamedEvent(name.text, ride: other == nil ? ride : nil, data: data ?? [:])
    if event.ride == nil { requirePeople(event, field) }
    return event
  }

  /// Decodes columns of the ride's row.
  private func columns(_ fields: Fields, _ start: Timestamp, of ride: RideID) -> RideUpdate {
    let states = rules.activeStates.union(rules.finalStates).sorted()
    var row = RideUpdate(id: ride)
    if let word = fields.value("state", .word(.event)),
      isKnown(word, among: states, "state names the unknown state")
    {
      row.state = word.text
    }
    row.customerID = fields.value("customer_id", ValueType.owner.orNull)
    row.driverID = fields.value("driver_id", ValueType.owner.orNull)
    row.pickupAt = fields.value("pickup_at", ValueType.time(from: start).orNull)
    row.timeZone = fields.value("time_zone", .zoneName)
    row.participants = fields.value("participants", .mappings(ScenarioKeys.participant))?
      .compactMap(participant)
    if let field = fields.value("attributes", .later(.payload())) {
      row.attributes = ValueType.members.read(field)
      if row.attributes != nil {
        DeclaredValues(diagnostics: diagnostics).check(field, rules.attributes)
      }
    }
    return row
  }

  // MARK: names of the rules

  /// Returns whether a rule has this name; reports it if not.
  func isKnown(_ rule: LocatedWord, _ key: String) -> Bool {
    isKnown(
      rule, among: rules.rules.map(\.name), "\(key) names the unknown rule",
      expected: "the name of a rule")
  }

  /// Returns whether a word is one of those that the rules have; reports it if not.
  func isKnown(
    _ word: LocatedWord, among known: [String], _ found: String, _ reason: String = "",
    expected: String? = nil
  ) -> Bool {
    if known.contains(word.text) { return true }
    diagnostics.report(
      word.location, "\(found) \(quoted(word.text))\(reason)",
      expected: expected ?? "one of \(known.joined(separator: ", "))", word: word.text,
      among: known)
    return false
  }
}

/// The ride that an event is about, if it is not the scenario's.
private enum RideOfEvent: String, CaseIterable {
  case none
}
