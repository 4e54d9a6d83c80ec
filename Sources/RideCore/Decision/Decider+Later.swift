// What follows an event later, or in place of a push: `wait`, `emit` and `escalate`.
extension Decider {
  /// Returns when the `wait` of a rule after an event is over; nil if it has none, or if it is over.
  func wait(of rule: CompiledRule, after event: RideEvent) -> Timestamp? {
    guard let wait = rule.wait else { return nil }
    let due = event.at + wait
    return due > now ? due : nil
  }

  /// Keeps a push until its rule's `wait` is over.
  ///
  /// It is decided then, by the path of retries, from the ride's state at that time.
  mutating func withhold(_ entry: LedgerEntry, until due: Timestamp, _ image: RideImage? = nil) {
    var entry = entry
    entry.status = .pending
    entry.reason = .waiting(until: due)
    decision.postponed.append(PendingPush(entry: entry, due: due, image: image))
  }

  // MARK: emit

  /// Fires a rule that emits an event: once for its cause, in the first part of a pass.
  mutating func fireEmit(
    _ rule: CompiledRule, _ entry: LedgerEntry, _ context: TemplateContext
  ) {
    if !isFirstPart { return }
    if let due = wait(of: rule, after: entry.event) { return withhold(entry, until: due) }
    emit(rule, entry, context)
  }

  /// Emits the event of a rule, if the ride is in the rule's states.
  mutating func emit(_ rule: CompiledRule, _ entry: LedgerEntry, _ context: TemplateContext) {
    guard let event = rule.emittedEvent else { return }
    if let reason = rule.leftStates(context.ride.state) { return close(entry, .suppressed, reason) }
    decision.emits.append(EmittedEvent(name: event, data: entry.event.data, at: now))
    close(entry, .suppressed, .emitted(event))
  }

  // MARK: escalate

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
      .waitingForReceipt, "emits \(escalation.event) unless seen by \(CivilTime.iso(due))")
    var pending = PendingPush(entry: entry, due: due)
    pending.awaited = pushes
    decision.postponed.append(pending)
  }

  /// Closes an escalation that is due: nothing follows if a push was seen, and nothing if the rule's
  /// states or validity ended.
  ///
  /// A receipt counts until this is decided, not only until it was due: who has seen the push
  /// meanwhile needs no escalation.
  mutating func escalate(
    _ rule: CompiledRule, _ entry: LedgerEntry, unlessSeen pushes: [PushID]
  ) {
    guard let escalation = rule.escalation, let owner = entry.owner else {
      return close(entry, .suppressed, .ruleGone)
    }
    if pushes.contains(where: decision.view.seen.contains) {
      return close(entry, .suppressed, LedgerReason(.seen, "seen in time"))
    }
    guard let ride else { return close(entry, .suppressed, .rideNotFound) }
    if let reason = rule.leftStates(ride.state) { return close(entry, .suppressed, reason) }
    let validUntil = entry.event.at + rule.validity
    if now >= validUntil { return close(entry, .expired, .validUntil(validUntil)) }
    decision.emits.append(
      EmittedEvent(
        name: escalation.event, data: Self.data(of: entry.event, addressedTo: owner, entry.app),
        at: now))
    let limit = escalation.limit.rideText
    close(
      entry, .suppressed,
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
