// Pushes of legacy senders: each frame states its own phone, payload and expiration.
extension Decider {
  /// Plans one push to the phone with the frame's token; the frame takes the place of rule and
  /// ride.
  mutating func evaluateLegacyPush(_ event: RideEvent) {
    guard let (push, id) = LegacyPush.read(event) else {
      let id = PushID(of: "event", String(event.id), decision.view.rideID.text, LegacyPush.rule)
      return close(legacyEntry(id, event, of: App(rawValue: "")), .suppressed, .unreadableFrame)
    }
    var entry = legacyEntry(id, event, of: push.app)
    entry.pushType = push.pushType
    entry.tokenSuffix = push.token.suffix
    let phone = decision.view.phones.first { $0.app == push.app && $0.token == push.token.hex }
    guard let phone else { return close(entry, .suppressed, .phoneDisabled) }
    entry.phone = phone.id
    plan(push, entry, phone)
  }

  /// Retries a legacy push, unchanged from its frame.
  mutating func retryLegacy(_ entry: LedgerEntry) {
    guard let (push, _) = LegacyPush.read(entry.event) else {
      return close(entry, .suppressed, .unreadableFrame)
    }
    guard let phone = decision.view.phones.first(where: { $0.id == entry.phone }) else {
      return close(entry, .suppressed, .phoneDisabled)
    }
    plan(push, entry, phone)
  }

  private mutating func plan(_ push: LegacyPush, _ entry: LedgerEntry, _ phone: Phone) {
    do throws(Planner.Refused) {
      plan(try planned(push, entry, to: phone), entry, phone)
    } catch {
      close(entry, error.status, error.reason)
    }
  }

  private func planned(
    _ push: LegacyPush, _ entry: LedgerEntry, to phone: Phone
  ) throws(Planner.Refused) -> PlannedPush {
    let validUntil = push.validUntil(from: entry.event.at)
    try Planner.check(validUntil, at: now)
    let topic = try Planner.topic(of: push.app, entry.pushType, configuration)
    let payload = Array(push.payload.utf8)
    try Planner.check(payload)
    let headers = PushHeaders(
      id: entry.id, topic: topic, pushType: entry.pushType, priority: push.priority,
      expiration: push.expiration == 0 ? .neverStore : .at(validUntil),
      collapseID: CollapseID(entry.id.description))
    return PlannedPush(
      entry, headers, payload, to: phone, token: push.token, validUntil: validUntil,
      by: configuration)
  }

  private func legacyEntry(_ id: PushID, _ event: RideEvent, of app: App) -> LedgerEntry {
    LedgerEntry(
      id: id, event: event, rule: LegacyPush.rule, app: app, pushType: .alert, status: .pending,
      attempts: 0)
  }
}
