import Base
import RideCore
import Timeline

// Phones, cards and start tokens of a story.

extension ScenarioDecoder {
  func addPhones(_ given: Fields, to scenario: inout Scenario) {
    let phones = given.value("phones", .mappings(ScenarioKeys.phone))
    let cards = given.value("cards", .mappings(ScenarioKeys.card)) ?? []
    let tokens = given.value("push_to_start", .mappings(ScenarioKeys.startToken)) ?? []
    scenario.lacksPhones = phones == nil
    for (index, fields) in (phones ?? []).enumerated() {
      guard let phone = phone(fields, index, of: scenario) else { continue }
      if phone.reportsReceipts == false {
        scenario.withoutReceipts.insert(PhoneOwner(phone.app, phone.ownerID))
      }
      let row = Phone(phone, id: Int64(index + 1))
      let shown = screen(
        fields,
        of: ScenarioPhone(name: nil, id: row.id, platform: row.platform, start: scenario.start))
      checkName(fields, of: shown, in: scenario)
      scenario.view.phones.append(row)
      scenario.phones.append(shown)
    }
    for (index, fields) in cards.enumerated() {
      guard let card = card(fields, index, of: scenario) else { continue }
      scenario.add(Card(card, id: Int64(index + 1), at: scenario.start))
    }
    for (index, fields) in tokens.enumerated() {
      guard let start = startToken(fields, index, of: scenario), let type = start.attributesType
      else { continue }
      scenario.view.startTokens.append(
        StartToken(start, id: Int64(index + 1), type: type, at: scenario.start))
    }
  }

  func phone(_ fields: Fields, _ index: Int, of scenario: Scenario) -> Registration? {
    let registration = registration(fields, "phone", index, scenario)
    let locale = fields.value("locale", .plainText)
    let receipts = fields.value("receipts", .flag)
    let zone = fields.value("time_zone", .zoneName)
    guard var phone = registration else { return nil }
    (phone.locale, phone.reportsReceipts, phone.timeZone) = (locale, receipts, zone)
    return phone
  }

  func card(_ fields: Fields, _ index: Int, of scenario: Scenario) -> Registration? {
    let registration = registration(fields, "card", index, scenario)
    let activity = fields.value("activity_id", .plainText)
    let isFrequent = fields.value("frequent", .flag) ?? false
    guard var card = registration else { return nil }
    (card.activityID, card.isFrequent) = (activity, isFrequent)
    return card
  }

  func startToken(_ fields: Fields, _ index: Int, of scenario: Scenario) -> Registration? {
    let registration = registration(fields, "start", index, scenario)
    let type = fields.value("attributes_type", .later(.text(expected: "a text")))
    guard var start = registration else { return nil }
    start.attributesType =
      type.map(ValueType.plainText.read) ?? attributesType(fields, of: start.app)
    return start
  }

  private func attributesType(_ fields: Fields, of app: App) -> String? {
    for rule in rules.rules where rule.app == app {
      if case .liveActivity(let life) = rule.what { return life.attributesType }
    }
    diagnostics.report(
      fields.location, "a push-to-start token of \(app), which has no card",
      expected: "an app with a live-activity rule, or attributes_type")
    return nil
  }

  /// Decodes what all of them have; nil without one of the rules' apps.
  private func registration(
    _ fields: Fields, _ kind: String, _ index: Int, _ scenario: Scenario
  ) -> Registration? {
    let app = app(fields)
    let token = fields.value("token", .later(.text(expected: "a text")))
    let owner = fields.value("owner_id", .owner)
    let environment = fields.value("environment", .later(ValueType<APNsEnvironment>.choice.form))
    let installation = fields.value("installation_id", .installation)
    let platform: Platform? = kind == "phone" ? fields.value("platform", .choice) : nil
    guard let app else { return nil }
    let invented = InventedRide.token(kind, app, Int64(index + 1))
    var registration = Registration(
      app: app, ownerID: owner ?? scenario.owner(of: app) ?? "", token: invented)
    registration.installationID = installation
    registration.platform = platform ?? .ios
    if platform == .android {
      registration.token = token.flatMap(fcmToken) ?? "fcm:" + invented
      if let environment {
        diagnostics.report(
          environment.location, "environment of an Android phone",
          expected: "the phone without it: FCM has no environments")
      }
    } else {
      let text = token.flatMap(ValueType.plainText.read)?.lowercased()
      registration.token = text ?? invented
      registration.environment = environment.flatMap(ValueType.choice.read)
    }
    return registration
  }

  private func fcmToken(_ field: Field) -> String? {
    guard let token = ValueType.plainText.read(field) else { return nil }
    if FCMRegistration(token) == nil {
      diagnostics.report(
        field.node.location, "token is not a registration of FCM",
        expected: "at most 512 visible ASCII characters")
    }
    return token
  }
}
