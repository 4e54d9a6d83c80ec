import Base
import RideCore
import Timeline

/// Decodes `given` and `when`.
struct ScenarioDecoder {
  let diagnostics: Diagnostics
  let rules: RuleSet
  let decode: NodeDecoder
  let values: ScenarioValues

  init(diagnostics: Diagnostics, rules: RuleSet) {
    self.diagnostics = diagnostics
    self.rules = rules
    decode = NodeDecoder(diagnostics: diagnostics)
    values = ScenarioValues(diagnostics: diagnostics)
  }

  /// Returns a scenario; what can't be read is reported.
  ///
  /// - Parameter fields: the mapping with `when` and `for`.
  func scenario(given: Field?, _ fields: Fields, at start: Timestamp) -> Scenario? {
    let given = given.flatMap {
      Fields($0.node, as: ScenarioKeys.given, diagnostics: diagnostics)
    }
    var start = start
    if let field = given?["at"] {
      guard let stated = field.node.string.flatMap(CivilTime.instant(iso:)) else {
        diagnostics.reportType(
          of: field.node, for: "at", expected: "a time such as 2026-11-21T08:00:00Z")
        return nil
      }
      start = stated
    }
    var ride = Ride(id: "story", state: nil)
    let hasRide = given?["ride"]?.node.string != "none"
    if hasRide, let field = given?["ride"],
      let row = Fields(field.node, as: ScenarioKeys.ride, diagnostics: diagnostics)
    {
      if let id = row["id"].flatMap(values.text) { ride.id = RideID(id) }
      ride.set(columns(row, start, of: ride.id))
    }
    ride.updatedAt = start
    if let state = ride.state { ride.entered[state] = start }
    var scenario = Scenario(
      start: start, view: RideView(rideID: ride.id, ride: hasRide ? ride : nil, phones: []))
    scenario.steps = steps(fields, start, of: hasRide ? ride.id : nil)
    scenario.length = fields["for"].flatMap(decode.duration)
    scenario.lacksPhones = given?["phones"] == nil
    if let given {
      addPhones(given, to: &scenario)
      addPeople(given, to: &scenario)
    }
    return scenario
  }

  /// Decodes `when`; the entries must be in the order of time.
  ///
  /// - Parameter ride: The ride that they are about; nil if they are about people only.
  func steps(_ fields: Fields, _ start: Timestamp, of ride: RideID?) -> [ScenarioStep] {
    guard let field = fields.required("when") else { return [] }
    var steps: [ScenarioStep] = []
    for node in values.list(field) {
      guard
        let entry = Fields(node, as: ScenarioKeys.step, diagnostics: diagnostics),
        let at = entry.required("at").flatMap({ values.time($0, from: start) })
      else { continue }
      if let last = steps.last, at < last.at {
        diagnostics.report(
          entry.location(of: "at"), "an entry before the one above it",
          expected: "the entries of when in the order of time")
      }
      let changes = changes(entry, start, at, of: ride)
      if entry.keys == ["at"] {
        diagnostics.report(
          entry.location, "an entry in which nothing happens",
          expected: "state, event, attributes, contact, seen, preference, apns or fcm next to at")
      }
      steps.append(ScenarioStep(at: at, changes))
    }
    return steps
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
    var changes: [Change] = []
    if let field = entry["apns"], let answer = answer(field, at) { changes.append(answer) }
    if let field = entry["fcm"], let answer = fcmAnswer(field, at) { changes.append(answer) }
    if let ride {
      let columns = columns(entry, start, of: ride)
      if columns != RideUpdate(id: ride) { changes.append(.ride(columns)) }
    } else {
      reportRide(entry)
    }
    if let field = entry["event"], let name = event(field) {
      let data = entry["data"].flatMap(members) ?? [:]
      let isPersonal = entry["ride"].flatMap { decode.choice($0, of: RideOfEvent.self) } != nil
      let event = NamedEvent(name, ride: isPersonal ? nil : ride, data: data)
      if event.ride == nil { requirePeople(event, field) }
      changes.append(.event(event))
    }
    if let field = entry["contact"], let app = decode.word(field) {
      let installation = entry["installation_id"].flatMap(values.text).map(InstallationID.init)
      changes.append(
        .contact(Contact(App(rawValue: app.text), owner(entry), installation, ride: ride)))
    }
    if let field = entry["preference"],
      let form = Fields(field.node, as: ScenarioKeys.preference, diagnostics: diagnostics),
      let preference = preference(form, ride)
    {
      changes.append(.preference(preference))
    }
    if let field = entry["seen"], let rule = decode.word(field), isKnown(rule, "seen"), let ride {
      let push = PushReference(ride: ride, rule: rule.text, token: nil)
      changes.append(.seen(push, by: owner(entry)))
    }
    return changes
  }

  func members(_ field: Field) -> [String: JSONValue]? {
    if case .object(let members)? = values.json(field.node) { return members }
    diagnostics.reportType(
      of: field.node, for: field.name, expected: "a mapping of keys to values")
    return nil
  }

  func owner(_ fields: Fields) -> OwnerID? {
    fields["owner_id"].flatMap(values.text).map(OwnerID.init)
  }

  /// Returns whether a rule has this name; reports it if not.
  func isKnown(_ rule: LocatedWord, _ key: String) -> Bool {
    let known = rules.rules.map(\.name)
    if known.contains(rule.text) { return true }
    diagnostics.report(
      rule.location, "\(key) names the unknown rule \(quoted(rule.text))",
      expected: "the name of a rule", word: rule.text, among: known)
    return false
  }

  private func event(_ field: Field) -> String? {
    guard let word = decode.word(field) else { return nil }
    if rules.knownEvents.contains(word.text) { return word.text }
    let known = rules.knownEvents.sorted()
    diagnostics.report(
      word.location, "event names the unknown event \(quoted(word.text))",
      expected: "one of \(known.joined(separator: ", "))", word: word.text, among: known)
    return nil
  }

  // The ride's row.

  private func columns(_ fields: Fields, _ start: Timestamp, of ride: RideID) -> RideUpdate {
    var row = RideUpdate(id: ride)
    if let field = fields["state"], let state = state(field) { row.state = state }
    if let field = fields["customer_id"] {
      row.customerID = .some(values.nullable(field).map(OwnerID.init))
    }
    if let field = fields["driver_id"] {
      row.driverID = .some(values.nullable(field).map(OwnerID.init))
    }
    if let field = fields["pickup_at"] { row.pickupAt = values.nullableTime(field, from: start) }
    if let zone = fields["time_zone"].flatMap(decode.zoneName) { row.timeZone = zone.identifier }
    if let field = fields["attributes"] {
      row.attributes = members(field)
      if row.attributes != nil {
        DeclaredValues(diagnostics: diagnostics, values: values).check(field, rules.attributes)
      }
    }
    if let field = fields["participants"] { row.participants = participants(field) }
    return row
  }

  private func state(_ field: Field) -> String? {
    guard let word = decode.word(field) else { return nil }
    let known = rules.activeStates.union(rules.finalStates).sorted()
    if known.contains(word.text) { return word.text }
    diagnostics.report(
      word.location, "state names the unknown state \(quoted(word.text))",
      expected: "one of \(known.joined(separator: ", "))", word: word.text, among: known)
    return nil
  }

  // Phones, cards and start tokens.

  private func addPhones(_ given: Fields, to scenario: inout Scenario) {
    for (index, fields) in entries(given["phones"], ScenarioKeys.phone) {
      guard var phone = registration(fields, "phone", index, scenario) else { continue }
      phone.locale = fields["locale"].flatMap(values.text)
      if fields["receipts"].flatMap(decode.flag) == false {
        scenario.withoutReceipts.insert(PhoneOwner(phone.app, phone.ownerID))
      }
      phone.timeZone = fields["time_zone"].flatMap(decode.zoneName)?.identifier
      scenario.view.phones.append(Phone(phone, id: Int64(index + 1)))
    }
    for (index, fields) in entries(given["cards"], ScenarioKeys.card) {
      guard var card = registration(fields, "card", index, scenario) else { continue }
      card.isFrequent = fields["frequent"].flatMap(decode.flag) ?? false
      scenario.view.cards.append(Card(card, id: Int64(index + 1), at: scenario.start))
    }
    for (index, fields) in entries(given["push_to_start"], ScenarioKeys.startToken) {
      guard let start = registration(fields, "start", index, scenario),
        let type = attributesType(fields, of: start.app)
      else { continue }
      scenario.view.startTokens.append(
        StartToken(start, id: Int64(index + 1), type: type, at: scenario.start))
    }
  }

  func entries(_ field: Field?, _ form: MappingForm) -> [(Int, Fields)] {
    guard let field else { return [] }
    return values.list(field).enumerated().compactMap { index, node in
      Fields(node, as: form, diagnostics: diagnostics).map { (index, $0) }
    }
  }

  private func attributesType(_ fields: Fields, of app: App) -> String? {
    if let field = fields["attributes_type"] { return values.text(field) }
    for rule in rules.rules where rule.app == app {
      if case .liveActivity(let life) = rule.what { return life.attributesType }
    }
    diagnostics.report(
      fields.location, "a push-to-start token of \(app), which has no card",
      expected: "an app with a live-activity rule, or attributes_type")
    return nil
  }

  private func registration(
    _ fields: Fields, _ what: String, _ index: Int, _ scenario: Scenario
  ) -> Registration? {
    guard let app = app(fields) else { return nil }
    var registration = Registration(
      app: app,
      ownerID: fields["owner_id"].flatMap(values.text).map(OwnerID.init) ?? scenario.owner(of: app)
        ?? "",
      token: "")
    registration.platform =
      fields["platform"].flatMap { decode.choice($0, of: Platform.self) } ?? .ios
    registration.token = token(fields, what, index, registration)
    registration.environment = fields["environment"].flatMap {
      decode.choice($0, of: APNsEnvironment.self)
    }
    registration.installationID = fields["installation_id"].flatMap(values.text)
      .map(InstallationID.init)
    return registration
  }

  /// Returns the stated token, or a made-up one of the platform's form.
  private func token(
    _ fields: Fields, _ what: String, _ index: Int, _ registration: Registration
  ) -> String {
    let stated = fields["token"].flatMap(values.text)
    let invented = InventedRide.token(what, registration.app, Int64(index + 1))
    guard registration.platform == .android else { return stated?.lowercased() ?? invented }
    if let field = fields["environment"] {
      diagnostics.report(
        field.location, "environment of an Android phone",
        expected: "the phone without it: FCM has no environments")
    }
    if let stated, FCMRegistration(stated) == nil, let field = fields["token"] {
      diagnostics.report(
        field.node.location, "token is not a registration of FCM",
        expected: "at most 512 visible ASCII characters")
    }
    return stated ?? "fcm:" + invented
  }
}

/// The ride that an event is about, if it is not the scenario's.
private enum RideOfEvent: String, CaseIterable {
  case none
}
