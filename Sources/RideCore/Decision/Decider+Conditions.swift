// Conditions: `if`, `remember` and `last`.

import CEL
extension Decider {
  /// Returns why a rule's `if` withholds a push; nil if it does not, or if there is none.
  ///
  /// - Parameters:
  ///   - phone: the phone that the push is for; nil if the condition does not depend on it.
  ///   - last: what the rule remembered, as JSON; nil if it never did.
  mutating func condition(
    _ rule: CompiledRule, _ context: TemplateContext, _ phone: Phone?, last: String?
  ) -> LedgerReason? {
    guard let condition = rule.condition else { return nil }
    let last = condition.readsLast ? last : nil
    let inputs = Condition.Inputs(
      context: context, phone: phone, defaultEnvironment: configuration.defaultEnvironment,
      last: last.map(condition.value(of:)) ?? .null, now: now)
    return condition.failure(with: inputs, &work)
  }

  /// Returns why a rule does not fire as far as its `if` is concerned, if it has not fired yet.
  mutating func firstCondition(
    _ rule: CompiledRule, _ context: TemplateContext, _ phone: Phone?, last: String?
  ) -> LedgerReason? {
    guard let condition = rule.condition else { return nil }
    if let failure = self.condition(rule, context, phone, last: last) { return failure }
    // What can't be remembered would let the rule fire at each change.
    let size = condition.remembered.isEmpty ? 0 : condition.memory(of: context).count
    if size <= Condition.memoryLimit { return nil }
    return .conditionError(
      "remember has \(size) bytes, at most \(Condition.memoryLimit) are kept")
  }

  /// Returns whether a rule may fire as far as its `if` is concerned; closes the entry if not.
  ///
  /// A condition that does not read the phone is evaluated once for an event, and is then not asked
  /// for a phone.
  mutating func isAdmitted(
    _ rule: CompiledRule, _ context: TemplateContext, _ entry: LedgerEntry, _ phone: Phone? = nil
  ) -> Bool {
    guard let condition = rule.condition, condition.readsPhone == (phone != nil) else {
      return true
    }
    let firing = RuleFiring(rule.name, context.event)
    if phone == nil, let part = decision.view.memo.part {
      return part.withheld?.contains(firing) != true
    }
    let reason = firstCondition(rule, context, phone, last: conditions[rule.name]?.last)
    let isUpdate = context.event.name == "ride_updated"
    // The rows of several phones have one text: known is what an earlier event recorded.
    let known = (phone == nil ? conditions : decision.view.memo.conditions)[rule.name]?.complaint
    guard let reason else {
      if isUpdate, conditions[rule.name]?.complaint != nil {
        conditions[rule.name]?.complaint = nil
      }
      return true
    }
    if phone == nil { withheld.append(firing) }
    let isError = reason.code == .engine(.conditionError)
    if isUpdate {
      if isError {
        conditions[rule.name, default: ConditionMemo()].complaint = reason.text
        if known == reason.text { return false }
      } else {
        conditions[rule.name]?.complaint = nil
        decision.settlement.falseConditions[rule.name, default: 0] += 1
        return false
      }
    }
    close(entry, .suppressed, reason)
    return false
  }

  /// The number of pushes that this decision sends, keeps or leaves to a card: what reaches people.
  var livePushes: Int {
    decision.pushes.count + decision.held.count + decision.postponed.count + alertsOnCards
  }

  /// Remembers the attributes that a rule's `if` will read as `last`.
  mutating func remember(_ rule: CompiledRule, _ context: TemplateContext) {
    guard let condition = rule.condition, !condition.remembered.isEmpty else { return }
    let memory = String(decoding: condition.memory(of: context), as: UTF8.self)
    conditions[rule.name, default: ConditionMemo()].last = memory
    remembered[rule.name] = memory
  }

  /// Hands what the next decision needs to the memo.
  mutating func keepConditions() {
    let before = decision.view.memo
    if conditions.isEmpty, withheld.isEmpty, before.part?.remembered == nil { return }
    let all = (before.part?.remembered ?? [:]).merging(remembered) { $1 }
    if decision.settlement.memo.part != nil {
      // Each part decides as the first one did: what is remembered counts after the last part.
      for name in conditions.keys { conditions[name]?.last = before.conditions[name]?.last }
      decision.settlement.memo.part?.remembered = all.isEmpty ? nil : all
      let firings = (before.part?.withheld ?? []) + withheld
      decision.settlement.memo.part?.withheld = firings.isEmpty ? nil : firings
    } else {
      for (name, memory) in all { conditions[name, default: ConditionMemo()].last = memory }
    }
    guard decision.isActive else { return }
    decision.settlement.memo.conditions = conditions.filter { name, memo in
      !memo.isEmpty && configuration.rules.rule(named: name)?.condition != nil
    }
  }
}
