// `escalate`: an event for an owner who sees no push of a firing in time.

import Base
extension Decider {
  /// Opens the escalation of one firing to one owner; a later part of the pass adds its pushes.
  ///
  /// It waits in the memo, where the ride's due time and `ridepulse.forget` find it; but if no phone
  /// of the owner shows alerts, nothing is to be awaited.
  ///
  /// - Parameter isUnseeable: whether a phone of this part shows none.
  mutating func openEscalation(
    _ rule: CompiledRule, _ event: RideEvent, of owner: OwnerID, in app: App,
    awaiting pushes: [PushID], isUnseeable: Bool
  ) {
    guard let escalation = rule.escalation else { return }
    var entry = draft(rule, event, app)
    entry.id = pushID(rule, event, "escalation to \(owner.text)", app)
    entry.kind = .escalation
    if !isFirstPart,
      let index = decision.view.memo.waiting.firstIndex(where: { $0.entry.id == entry.id })
    {
      decision.view.memo.waiting[index].wait.await(pushes)
      return
    }
    let due = event.firing + escalation.limit
    entry.owner = owner
    let isLastPart = decision.settlement.memo.part == nil
    if isUnseeable, pushes.isEmpty, isFirstPart, isLastPart {
      return escalate(WaitingItem(entry: entry, wait: .receipt(until: due, of: [])))
    }
    let item = WaitingItem(entry: entry, wait: .receipt(until: due, of: pushes))
    if pause(of: entry) != nil,
      waitsForPause(item, escalation, validUntil: event.firing + rule.validity)
    {
      return
    }
    wait(entry, item.wait, .awaitsReceipt(escalation, until: due))
  }

  /// Follows the escalations that earlier decisions opened: one ends when it is due, or when all
  /// pushes that it awaits were blocked or can't be seen.
  mutating func followEscalations() {
    let open = decision.view.memo.waiting.filter { $0.wait.awaited != nil }
    if open.isEmpty { return }
    let (blocked, unseeable) = (decision.blocked, decision.unseeable)
    var ended = 0
    for var item in EventOrder.sorted(open, event: \.entry.event) {
      if let reason = item.wait.remove(blocked) {
        close(item.entry, .suppressed, .nothingToSee(reason))
        continue
      }
      let isUnseeable = item.wait.remove(unseeable) != nil
      if !isUnseeable && lastsOnPurpose(item) || ended >= OpenPart.size {
        keep(item)
      } else {
        ended += 1
        escalate(item)
      }
    }
  }

  /// Closes an escalation that is due: nothing follows if a push was seen, and nothing if the rule's
  /// states or validity ended.
  ///
  /// A receipt counts until this is decided, not only until it was due: who has seen the push
  /// meanwhile needs no escalation. An owner whose phones never reported one may have seen it, too: the
  /// escalation waits for a first receipt as long as the rule's push is valid, and ends without an event.
  private mutating func escalate(_ item: WaitingItem) {
    let (entry, pushes) = (item.entry, item.wait.awaited ?? [])
    guard let rule = configuration.rules.rule(named: entry.rule), let escalation = rule.escalation,
      let owner = entry.owner
    else { return close(entry, .suppressed, .ruleGone) }
    let person = PhoneOwner(entry.app, owner)
    // Who has no phone has seen nothing.
    let mayReport = pushes.isEmpty || decision.view.reporters.contains(person)
    if let push = pushes.first(where: decision.view.seen.contains) {
      decision.settlement.ownersReceipts.append(OwnersReceipt(push: push, owner: person))
      return close(entry, .accepted, LedgerReason(.seen, "seen in time"))
    }
    if context(entry.event) == nil { return close(entry, .suppressed, .rideNotFound) }
    if !mayStillLeave(item, nil) { return }
    let validUntil = entry.event.firing + rule.validity
    if now >= validUntil {
      if item.isPaused, let pause = entry.reason {
        let reason = "\(LedgerReason.validUntil(validUntil).text); \(pause.text)"
        return close(entry, .expired, LedgerReason(.paused, reason))
      }
      let hasWaited = item.due >= validUntil
      if !mayReport, hasWaited { return close(entry, .suppressed, .noReceipts(of: entry.app)) }
      return close(entry, .expired, .validUntil(validUntil))
    }
    if waitsForPause(item, escalation, validUntil: validUntil) { return }
    if !mayReport {
      return wait(
        entry, .receipt(until: validUntil, of: pushes),
        LedgerReason(
          .waitingForReceipt,
          "waits for the owner's first receipt until \(CivilTime.iso(validUntil))",
          times: validUntil))
    }
    let event = EmittedEvent(
      name: escalation.event, data: Self.data(of: entry.event, addressedTo: owner, entry.app),
      at: now)
    let cause =
      now < entry.event.firing + escalation.limit
      ? "no phone of the \(entry.app) shows alerts" : "not seen within \(escalation.limit.rideText)"
    emit(event, for: entry, LedgerReason(.emitted, "emitted \(escalation.event): \(cause)"))
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

extension Memo {
  /// The people whom escalations concern.
  package var escalationOwners: Set<PhoneOwner> {
    Set(
      waiting.compactMap { item in
        item.wait.awaited == nil ? nil : item.entry.owner.map { PhoneOwner(item.entry.app, $0) }
      })
  }
}

extension Wait {
  /// Adds pushes to those that an escalation awaits.
  fileprivate mutating func await(_ more: [PushID]) {
    guard case .receipt(let due, let pushes) = self else { return }
    self = .receipt(until: due, of: pushes + more.filter { !pushes.contains($0) })
  }

  /// Removes pushes from those that an escalation awaits; returns the reason if it then awaits none.
  ///
  /// One that never awaited a push is for an owner without a phone, and stays.
  fileprivate mutating func remove(_ blocked: [PushID: LedgerReason]) -> LedgerReason? {
    guard !blocked.isEmpty, case .receipt(let due, let pushes) = self else { return nil }
    let left = pushes.filter { blocked[$0] == nil }
    self = .receipt(until: due, of: left)
    return left.isEmpty ? pushes.lazy.compactMap { blocked[$0] }.first : nil
  }
}

extension Decision {
  /// The reasons of the pushes that are kept from their owners on purpose.
  fileprivate var blocked: [PushID: LedgerReason] {
    items.reduce(into: [:]) { reasons, item in
      if item.fate == .blocked { reasons[item.entry.id] = item.entry.reason }
    }
  }

  /// Those of the pushes that phones with notifications turned off would not show.
  fileprivate var unseeable: [PushID: LedgerReason] {
    items.reduce(into: [:]) { reasons, item in
      if item.isUnseeable { reasons[item.entry.id] = item.entry.reason }
    }
  }
}

extension Settlement {
  /// Ends the escalations of alerts that cards have shown in their place, because no app reports
  /// those as seen.
  mutating func endEscalations(of shown: [LedgerEntry]) {
    if shown.isEmpty || !memo.waiting.contains(where: { $0.wait.awaited != nil }) { return }
    let blocked = Dictionary(
      shown.map { ($0.id, $0.reason ?? .coveredByCard) }, uniquingKeysWith: { first, _ in first })
    var kept: [WaitingItem] = []
    for var item in memo.waiting {
      guard let reason = item.wait.remove(blocked) else {
        kept.append(item)
        continue
      }
      item.entry.end(.suppressed, .nothingToSee(reason))
      entries.removeAll { $0.id == item.entry.id }
      entries.append(item.entry)
    }
    memo.waiting = kept
  }
}

extension LedgerReason {
  /// Why an escalation ends before it is due, with the code of the push.
  static func nothingToSee(_ reason: LedgerReason) -> LedgerReason {
    LedgerReason(reason.code, "nothing to be seen: \(reason.text)".brief(bytes: 300))
  }
}
