// `escalate`: an event for an owner who sees no push of a firing in time.

import Base
extension Decider {
  /// Opens the escalation of one firing to one owner; a later part of the pass adds its pushes.
  ///
  /// It waits among the retries, where a ride's memo, its due time and `ridepulse.forget` find it.
  mutating func openEscalation(
    _ rule: CompiledRule, _ event: RideEvent, of owner: OwnerID, in app: App,
    awaiting pushes: [PushID]
  ) {
    guard let escalation = rule.escalation else { return }
    var entry = draft(rule, event, app)
    entry.id = pushID(rule, event, "escalation to \(owner.text)", app)
    if !isFirstPart,
      let index = decision.view.memo.retries.firstIndex(where: { $0.entry.id == entry.id })
    {
      decision.view.memo.retries[index].awaited?.append(contentsOf: pushes)
      return
    }
    let due = event.at + (rule.wait ?? .zero) + escalation.limit
    entry.owner = owner
    entry.reason = LedgerReason(
      .waitingForReceipt,
      "waits for a receipt: emits \(escalation.event) unless seen by \(CivilTime.iso(due))")
    var pending = PendingPush(entry: entry, due: due)
    pending.awaited = pushes
    decision.postponed.append(pending)
  }

  /// Follows the escalations that earlier decisions opened: one ends when it is due, or when all
  /// pushes that it awaits were declined.
  ///
  /// It comes after all pushes, because what they wait for and their escalation may be due together.
  mutating func followEscalations() {
    let open = decision.view.memo.retries.filter { $0.awaited != nil }
    if open.isEmpty { return }
    let declined = decision.closed.declined
    var ended = 0
    for var pending in EventOrder.sorted(open, event: \.entry.event) {
      if let reason = pending.removeDeclined(declined) {
        close(pending.entry, .suppressed, .nothingToSee(reason))
      } else if isWithheld(pending) || ended >= OpenPart.size {
        decision.waiting.append(pending)
      } else {
        ended += 1
        escalate(pending)
      }
    }
  }

  /// Closes an escalation that is due: nothing follows if a push was seen, and nothing if the rule's
  /// states or validity ended.
  ///
  /// A receipt counts until this is decided, not only until it was due: who has seen the push
  /// meanwhile needs no escalation.
  private mutating func escalate(_ pending: PendingPush) {
    let (entry, pushes) = (pending.entry, pending.awaited ?? [])
    guard let rule = configuration.rules.rule(named: entry.rule), let escalation = rule.escalation,
      let owner = entry.owner
    else { return close(entry, .suppressed, .ruleGone) }
    if pushes.contains(where: decision.view.seen.contains) {
      return close(entry, .suppressed, LedgerReason(.seen, "seen in time"))
    }
    if context(entry.event) == nil { return close(entry, .suppressed, .rideNotFound) }
    if !mayStillLeave(pending, nil) { return }
    let validUntil = entry.event.at + rule.validity
    if now >= validUntil { return close(entry, .expired, .validUntil(validUntil)) }
    let event = EmittedEvent(
      name: escalation.event, data: Self.data(of: entry.event, addressedTo: owner, entry.app),
      at: now)
    let limit = escalation.limit.rideText
    emit(
      event, for: entry,
      LedgerReason(.emitted, "emitted \(escalation.event): not seen within \(limit)"))
  }

  /// Returns an event's data with the owner whom the next event is about.
  private static func data(
    of event: RideEvent, addressedTo owner: OwnerID, _ app: App
  ) -> String {
    var members: [String: JSONValue] = [:]
    if case .object(let known)? = JSONValue(json: event.data.utf8) { members = known }
    members[app.ownerKey] = .string(owner.text)
    return JSONValue.object(members).text
  }
}

extension PendingPush {
  /// Removes declined pushes from those that an escalation awaits; returns the reason if it then
  /// awaits none.
  ///
  /// One that never awaited a push is for an owner without a phone, and stays.
  mutating func removeDeclined(_ declined: [PushID: LedgerReason]) -> LedgerReason? {
    guard !declined.isEmpty, let awaited else { return nil }
    let left = awaited.filter { declined[$0] == nil }
    self.awaited = left
    return left.isEmpty ? awaited.lazy.compactMap { declined[$0] }.first : nil
  }
}

extension LedgerEntry {
  /// Whether the push was kept from its owner on purpose, so that there is nothing to see.
  var isDeclined: Bool { status == .suppressed && reason?.code.declines == true }
}

extension [LedgerEntry] {
  /// The reasons of the declined pushes.
  var declined: [PushID: LedgerReason] {
    reduce(into: [:]) { reasons, entry in
      if entry.isDeclined { reasons[entry.id] = entry.reason }
    }
  }
}

extension Settlement {
  /// Ends the escalations of alerts that cards show in their place, because no app reports those as
  /// seen.
  ///
  /// - Parameter alerts: the alerts that were held for the outcomes of the cards' pushes.
  mutating func endEscalations(of alerts: [HeldAlert]) {
    if alerts.isEmpty || !memo.retries.contains(where: { $0.awaited != nil }) { return }
    let held = Set(alerts.map(\.entry.id))
    let declined = entries.filter { held.contains($0.id) }.declined
    var kept: [PendingPush] = []
    for var pending in memo.retries {
      guard let reason = pending.removeDeclined(declined) else {
        kept.append(pending)
        continue
      }
      pending.entry.end(.suppressed, .nothingToSee(reason))
      entries.removeAll { $0.id == pending.entry.id }
      entries.append(pending.entry)
    }
    memo.retries = kept
  }
}

extension LedgerReason {
  /// Why an escalation ends before it is due, with the code of the push.
  static func nothingToSee(_ reason: LedgerReason) -> LedgerReason {
    LedgerReason(reason.code, "nothing to be seen: \(reason.text)".brief(bytes: 300))
  }
}

extension LedgerReason.Code {
  /// Whether a push with this reason is kept from its owner on purpose: by its rule, the owner's
  /// wish, or a card that shows it.
  var declines: Bool {
    switch self {
    case .engine(.leftStates), .engine(.conditionFalse), .engine(.conditionError),
      .engine(.recentContact), .engine(.optedOut), .engine(.notInSample), .engine(.quietHours),
      .engine(.overCap), .engine(.coveredByCard):
      true
    default: false
    }
  }
}
