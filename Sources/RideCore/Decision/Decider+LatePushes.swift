// Decides `while` and `if` again for whatever leaves later than its rule fired.

import Base
extension Decider {
  /// Returns whether a push or an event that waited may still leave; closes its entry if not.
  ///
  /// Each late push passes here, whatever it waited for: `wait`, quiet hours, a permit, a receipt, a
  /// retry, or an earlier push. The ride's row and the time are those of now, the event
  /// and what the rule remembered are those of the firing.
  ///
  /// - Parameter phone: the push's phone; nil if there is none.
  mutating func mayStillLeave(_ pending: PendingPush, _ phone: Phone?) -> Bool {
    var entry = pending.entry
    // Cards render the present state, raw pushes have no rule, and a push without its phone ends for
    // that reason.
    guard entry.startToken == nil, !InternalEvent.isRaw(entry.event.name),
      entry.phone == nil || phone != nil,
      let rule = configuration.rules.rule(named: entry.rule), let context = context(entry.event),
      let reason = rule.leftStates(context.ride.state) ?? failure(of: rule, pending, context, phone)
    else { return true }
    if decision.view.isTakenOver, entry.recipient != nil, mayHaveLeft(pending) {
      entry.doubt = entry.doubt ?? .takenOver
    }
    close(entry, .suppressed, reason)
    return false
  }

  /// Keeps what `if` reads as `last` in this firing, for pushes of it that leave later.
  ///
  /// All phones of a firing share it: by the time that the last one is reached, the rule may have
  /// remembered the firing for the others.
  mutating func keepMemory(of rule: CompiledRule, _ event: RideEvent, last: String?) {
    guard rule.condition?.readsLast == true else { return }
    let key = RuleFiring(rule.name, event).key
    decision.fired[key] = decision.fired[key] ?? last ?? "null"
  }

  /// Returns why the `if` of a rule withholds what waited; nil if it does not.
  private mutating func failure(
    of rule: CompiledRule, _ pending: PendingPush, _ context: TemplateContext, _ phone: Phone?
  ) -> LedgerReason? {
    guard let condition = rule.condition else { return nil }
    // An escalation is about all phones of its owner.
    if condition.readsPhone, phone == nil, rule.emittedEvent == nil { return nil }
    let phone = condition.readsPhone ? phone : nil
    let entry = pending.entry
    if isFirstDecision(pending, rule) {
      let last = decision.view.memo.conditions[rule.name]?.last
      keepMemory(of: rule, entry.event, last: last)
      let known = decision.fired[RuleFiring(rule.name, entry.event).key]
      return firstCondition(rule, context, phone, last: known)
    }
    let last = decision.fired[RuleFiring(rule.name, entry.event).key]
    // The memo had no room for it.
    if condition.readsLast, last == nil { return nil }
    guard let reason = self.condition(rule, context, phone, last: last) else { return nil }
    return reason.code == .engine(.conditionFalse) ? .becameFalse(condition) : reason
  }

  /// Returns whether `if` has not been decided in this firing: it is when `wait` is over.
  private func isFirstDecision(_ pending: PendingPush, _ rule: CompiledRule) -> Bool {
    if pending.entry.reason?.code == .engine(.waiting) { return true }
    return pending.awaited?.isEmpty == true && rule.wait != nil
  }
}

extension Settlement {
  /// Keeps what the rules of waiting pushes remembered when they fired, as far as the memo has room.
  mutating func keepMemories(_ fired: [String: String]) {
    if fired.isEmpty { return }
    var room = MemoBudget.memories
    for pending in memo.retries {
      let key = RuleFiring(pending.entry.rule, pending.entry.event).key
      guard let memory = fired[key], memo.fired[key] == nil else { continue }
      room -= key.utf8.count + memory.utf8.count
      if room < 0 { return }
      memo.fired[key] = memory
    }
  }
}

extension LedgerReason {
  /// `if` was true when the rule fired, and is false now that the push could leave.
  static func becameFalse(_ condition: Condition) -> LedgerReason {
    LedgerReason(
      .conditionFalse, "if became false before it was sent: \(condition.text)".brief(bytes: 300))
  }
}
