import Base
import RideCore
import Timeline

// The people of a story: participants, what they have turned off, and when they made contact.

extension ScenarioDecoder {
  /// Decodes an app for which a rule sends something.
  func app(_ fields: Fields) -> App? {
    guard let word = fields.value("app", .word(.app), required: WordForm.app.rule),
      isKnown(
        word, among: rules.apps.map(\.rawValue), "the app",
        ", for which no rule sends anything")
    else { return nil }
    return App(rawValue: word.text)
  }

  func participant(_ fields: Fields) -> Participant? {
    let app = app(fields)
    let owner = fields.value("owner_id", .owner, required: "owner_id: the ID of a person")
    let attributes = fields.value("attributes", .members) ?? [:]
    guard let app, let owner else { return nil }
    return Participant(app: app, ownerID: owner, attributes: JSONValue.object(attributes).text)
  }

  /// Adds what people did before the scenario begins.
  func addPeople(_ given: Fields, to scenario: inout Scenario) {
    for fields in given.value("preferences", .mappings(ScenarioKeys.preference)) ?? [] {
      guard let choice = choice(fields),
        let owner = owner(choice.owner, of: choice.app, fields, scenario)
      else { continue }
      let optOut = OptOut(app: choice.app, owner: owner, topic: choice.topic)
      if !choice.isAllowed { scenario.view.optOuts.insert(optOut) }
    }
    for fields in given.value("contacts", .mappings(ScenarioKeys.contact)) ?? [] {
      addContact(fields, to: &scenario)
    }
  }

  func addContact(_ fields: Fields, to scenario: inout Scenario) {
    let app = app(fields)
    let stated = fields.value("owner_id", .owner)
    let installation = fields.value("installation_id", .installation)
    let ago = fields.value("ago", .duration(such: "10m or 1h30m")) ?? .zero
    guard let app, let owner = owner(stated, of: app, fields, scenario) else { return }
    scenario.addContact(of: app, owner, installation, at: scenario.start - ago)
  }

  /// Decodes a preference in an entry of `when`.
  ///
  /// - Parameter ride: The ride whose person it is if the entry names none.
  func preference(_ fields: Fields, _ ride: RideID?) -> Preference? {
    guard let choice = choice(fields) else { return nil }
    if choice.owner == nil, ride == nil { requireOwner(fields) }
    return Preference(
      optOut: OptOut(app: choice.app, owner: choice.owner ?? "", topic: choice.topic),
      isAllowed: choice.isAllowed, ofRide: choice.owner == nil ? ride : nil)
  }

  private func choice(
    _ fields: Fields
  ) -> (app: App, owner: OwnerID?, topic: Topic, isAllowed: Bool)? {
    let app = app(fields)
    let owner = fields.value("owner_id", .owner)
    let topic = topic(fields)
    let isAllowed = fields.value("allowed", .flag, required: "allowed: false, or true")
    guard let app, let topic, let isAllowed else { return nil }
    return (app, owner, topic, isAllowed)
  }
  /// Reports an event about no ride whose data names no owner: it would cause nothing.
  func requirePeople(_ event: NamedEvent, _ field: Field) {
    let apps = rules.apps
    let data = JSONValue.object(event.data).text
    guard PersonalEvent.split(data, apps: apps).isEmpty else { return }
    diagnostics.report(
      field.location, "the event \(event.name) is about no ride, and its data names no person",
      expected: "data with \(alternatives(apps.map(\.ownerKey))): an ID, or a list of IDs")
  }

  /// Reports what only a ride has, in a scenario that has none.
  func reportRide(_ entry: Fields) {
    for field in entry.present(ScenarioKeys.ride.names + ["seen"]) {
      entry.reportMisplaced(
        field, "in a scenario with ride: none", expected: "event, contact, preference or apns")
    }
  }

  func requireOwner(_ fields: Fields) {
    diagnostics.report(
      fields.location, "no owner_id in a scenario with ride: none",
      expected: "owner_id: the ID of a person")
  }

  private func owner(
    _ stated: OwnerID?, of app: App, _ fields: Fields, _ scenario: Scenario
  ) -> OwnerID? {
    if let owner = stated ?? scenario.owner(of: app) { return owner }
    diagnostics.report(
      fields.location, "the scenario has no \(app)", expected: "owner_id: the ID of a person")
    return nil
  }

  private func topic(_ fields: Fields) -> Topic? {
    let known = Set(rules.rules.compactMap(\.limits.topic?.text)).sorted()
    guard let word = fields.value("topic", .word(.topic), required: "topic: one that a rule has"),
      isKnown(
        word, among: known, "the topic", ", which no rule has",
        expected: known.isEmpty ? "a rule with topic" : alternatives(known))
    else { return nil }
    return Topic(word.text)
  }
}
