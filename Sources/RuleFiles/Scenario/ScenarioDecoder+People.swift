import Base
import RideCore
import Timeline

// The people of a story: participants, what they have turned off, and when they made contact.

extension ScenarioDecoder {
  /// Decodes an app for which a rule sends something.
  func app(_ fields: Fields) -> App? {
    guard let word = fields.required("app").flatMap(decode.word) else { return nil }
    let known = rules.apps.map(\.rawValue)
    if known.contains(word.text) { return App(rawValue: word.text) }
    diagnostics.report(
      word.location, "the app \(quoted(word.text)), for which no rule sends anything",
      expected: "one of \(known.joined(separator: ", "))", word: word.text, among: known)
    return nil
  }

  func participants(_ field: Field) -> [Participant] {
    entries(field, ScenarioKeys.participant).compactMap { _, fields in
      guard let app = app(fields), let owner = fields.required("owner_id").flatMap(values.text)
      else { return nil }
      let attributes = fields["attributes"].flatMap(members) ?? [:]
      return Participant(
        app: app, ownerID: OwnerID(owner), attributes: JSONValue.object(attributes).text)
    }
  }

  /// Adds what people did before the scenario begins.
  func addPeople(_ given: Fields, to scenario: inout Scenario) {
    for (_, fields) in entries(given["preferences"], ScenarioKeys.preference) {
      guard let app = app(fields), let topic = topic(fields),
        let allowed = fields.required("allowed").flatMap(decode.flag),
        let owner = owner(fields, of: app, scenario)
      else { continue }
      let choice = OptOut(app: app, owner: owner, topic: topic)
      if !allowed { scenario.view.optOuts.insert(choice) }
    }
    for (_, fields) in entries(given["contacts"], ScenarioKeys.contact) {
      guard let app = app(fields), let owner = owner(fields, of: app, scenario) else { continue }
      let ago = fields["ago"].flatMap(decode.duration) ?? .zero
      let installation = fields["installation_id"].flatMap(values.text).map(InstallationID.init)
      scenario.addContact(of: app, owner, installation, at: scenario.start - ago)
    }
  }

  /// Decodes a preference in an entry of `when`.
  ///
  /// - Parameter ride: The ride whose person it is if the entry names none.
  func preference(_ fields: Fields, _ ride: RideID?) -> Preference? {
    guard let app = app(fields), let topic = topic(fields),
      let allowed = fields.required("allowed").flatMap(decode.flag)
    else { return nil }
    let owner = owner(fields)
    if owner == nil, ride == nil { requireOwner(fields) }
    return Preference(
      optOut: OptOut(app: app, owner: owner ?? "", topic: topic), isAllowed: allowed,
      ofRide: owner == nil ? ride : nil)
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
    for field in entry.present(ScenarioKeys.columns.map(\.name) + ["seen"]) {
      entry.reportMisplaced(
        field, "in a scenario with ride: none", expected: "event, contact, preference or apns")
    }
    if entry["contact"] != nil, entry["owner_id"] == nil { requireOwner(entry) }
  }

  private func requireOwner(_ fields: Fields) {
    diagnostics.report(
      fields.location, "no owner_id in a scenario with ride: none",
      expected: "owner_id: the ID of a person")
  }

  private func owner(_ fields: Fields, of app: App, _ scenario: Scenario) -> OwnerID? {
    if let owner = owner(fields) ?? scenario.owner(of: app) { return owner }
    diagnostics.report(
      fields.location, "the scenario has no \(app)", expected: "owner_id: the ID of a person")
    return nil
  }

  private func topic(_ fields: Fields) -> Topic? {
    guard let word = fields.required("topic").flatMap(decode.word) else { return nil }
    let known = Set(rules.rules.compactMap(\.limits.topic?.text)).sorted()
    if known.contains(word.text) { return Topic(word.text) }
    diagnostics.report(
      word.location, "the topic \(quoted(word.text)), which no rule has",
      expected: known.isEmpty ? "a rule with topic" : alternatives(known), word: word.text,
      among: known)
    return nil
  }
}
