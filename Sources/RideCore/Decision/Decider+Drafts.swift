// The ledger entries of what rules fire, and their IDs.

import Base

extension Decider {
  /// - Parameters:
  ///   - app: One of the rule's apps; nil for the first.
  ///   - person: Whom the entry is about, if the event concerns others before them.
  ///   - id: Its ID; that of the event or slot, the rule and the person by default.
  func draft(
    _ rule: CompiledRule, _ event: RideEvent, _ app: App? = nil, of person: OwnerID? = nil,
    id: PushID? = nil
  ) -> LedgerEntry {
    let app = app ?? rule.app
    // No token contains a space.
    let id = id ?? pushID(rule, event, person.map { "owner " + $0.text } ?? "", app)
    var entry = LedgerEntry(
      id: id, event: event, rule: rule.name, app: app,
      pushType: rule.pushType, status: .pending, attempts: 0)
    if rule.emittedEvent != nil { entry.kind = .emit }
    if let post = rule.post {
      entry.kind = .post
      entry.receiver = post.receiver
    }
    return entry
  }

  /// Returns the same ID for the same event or slot, rule and phone, on every node and attempt.
  ///
  /// - Parameter app: One of the rule's apps; the ID of the first one does not depend on it.
  func pushID(
    _ rule: CompiledRule, _ event: RideEvent, _ token: String, _ app: App
  ) -> PushID {
    let token = app == rule.app ? token : "app \(app) \(token)"
    if let due = event.firesAt {
      return PushID(
        of: "armed", String(event.id), decision.view.rideID.text, rule.name, token,
        String(due.microseconds))
    }
    if case .at = rule.when {
      return PushID(
        of: "slot", String(event.at.microseconds), decision.view.rideID.text, rule.name,
        token)
    }
    return PushID(of: "event", String(event.id), decision.view.rideID.text, rule.name, token)
  }
}
