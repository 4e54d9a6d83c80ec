// Conditions: `if`, `remember` and `last`.
extension Decider {
  /// Returns why a rule's `if` withholds a push; nil if it does not, or if there is none.
  ///
  /// - Parameters:
  ///   - phone: the phone that the push is for; nil if the condition does not depend on it.
  ///   - memos: what rules remember.
  func condition(
    _ rule: CompiledRule, _ context: TemplateContext, _ phone: Phone?,
    by memos: [String: ConditionMemo]
  ) -> LedgerReason? {
    guard let condition = rule.condition else { return nil }
    let last = condition.readsLast ? memos[rule.name]?.last : nil
    let inputs = Condition.Inputs(
      context: context, phone: phone, defaultEnvironment: configuration.defaultEnvironment,
      last: last.flatMap { JSONValue(json: $0.utf8) }, now: now)
    if let failure = condition.failure(with: inputs) { return failure }
    // What can't be remembered would let the rule fire at each change.
    let size = condition.remembered.isEmpty ? 0 : condition.memory(of: attributes).count
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
    let firing = WithheldFiring(rule, context.event)
    if phone == nil, let part = decision.view.memo.part {
      return part.withheld?.contains(firing) != true
    }
    let reason = self.condition(rule, context, phone, by: conditions)
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
        decision.falseConditions[rule.name, default: 0] += 1
        return false
      }
    }
    close(entry, .suppressed, reason)
    return false
  }

  /// Returns whether what waited for its time may leave, as far as its rule's `if` is concerned; closes
  /// the entry if not.
  ///
  /// All phones of a firing are asked with what was remembered before any of them.
  mutating func isStillAdmitted(
    _ rule: CompiledRule, _ context: TemplateContext, _ entry: LedgerEntry, _ phone: Phone? = nil
  ) -> Bool {
    guard let condition = rule.condition else { return true }
    let reason = self.condition(
      rule, context, condition.readsPhone ? phone : nil, by: decision.view.memo.conditions)
    guard let reason else { return true }
    close(entry, .suppressed, reason)
    return false
  }

  /// The number of pushes that this decision sends, keeps or leaves to a card: what reaches people.
  var livePushes: Int {
    decision.pushes.count + decision.held.count + decision.postponed.count + alertsOnCards
  }

  /// Remembers the attributes that a rule's `if` will read as `last`.
  mutating func remember(_ rule: CompiledRule) {
    guard let condition = rule.condition, !condition.remembered.isEmpty else { return }
    let memory = String(decoding: condition.memory(of: attributes), as: UTF8.self)
    conditions[rule.name, default: ConditionMemo()].last = memory
    remembered[rule.name] = memory
  }

  /// Hands what the next decision needs to the memo.
  mutating func keepConditions() {
    let before = decision.view.memo
    if conditions.isEmpty, withheld.isEmpty, before.part?.remembered == nil { return }
    let all = (before.part?.remembered ?? [:]).merging(remembered) { $1 }
    if decision.part != nil {
      // Each part decides as the first one did: what is remembered counts after the last part.
      for name in conditions.keys { conditions[name]?.last = before.conditions[name]?.last }
      decision.part?.remembered = all.isEmpty ? nil : all
      let firings = (before.part?.withheld ?? []) + withheld
      decision.part?.withheld = firings.isEmpty ? nil : firings
    } else {
      for (name, memory) in all { conditions[name, default: ConditionMemo()].last = memory }
    }
    guard decision.isActive else { return }
    decision.conditions = conditions.filter { name, memo in
      !memo.isEmpty && configuration.rules.rule(named: name)?.condition != nil
    }
  }
}
