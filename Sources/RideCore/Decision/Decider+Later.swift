// What follows an event later, or in place of a push: `wait` and `emit`.

import Base
extension Decider {
  /// Returns when the `wait` of a rule after an event is over; nil if it has none, or if it is over.
  ///
  /// All parts of a pass use the time of the first part: a firing waits for all of its phones, or for
  /// none.
  func wait(of rule: CompiledRule, after event: RideEvent) -> Timestamp? {
    guard let wait = rule.wait else { return nil }
    let due = event.at + wait
    return due > decision.view.memo.part?.startedAt ?? now ? due : nil
  }

  /// Whether a push is kept back on purpose until it is due: it delays no other push to its phone,
  /// and none takes it along.
  ///
  /// Between the parts of a pass nothing falls due: what one firing keeps back is decided together,
  /// once all of it is known.
  func isWithheld(_ pending: PendingPush) -> Bool {
    pending.entry.reason?.code.withholds == true && (pending.due > now || !isFirstPart)
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
    emit(
      EmittedEvent(name: event, data: entry.event.data, at: now), for: entry, .emitted(event))
  }
}
