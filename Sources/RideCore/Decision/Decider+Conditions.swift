// Conditions: `if`, `remember` and `last`; `while` and `if` are decided again for whatever leaves late.

import Base
import CEL

extension Decider {
  /// Returns why a rule's `if` blocks a push; nil if it does not, or if there is none.
  ///
  /// - Parameters:
  ///   - subject: whom the push is for, as far as the condition depends on it.
  ///   - last: what the rule remembered, as JSON; nil if it never did.
  mutating func condition(
    _ rule: CompiledRule, _ context: TemplateContext, _ subject: Condition.Subject, last: String?
  ) -> LedgerReason? {
    guard let condition = rule.condition else { return nil }
    let last = condition.readsLast ? last : nil
    let contact = condition.readsContact ? self.contact(of: subject) : nil
    let inputs = Condition.Inputs(
      context: context, subject: subject, contact: contact,
      defaultEnvironment: configuration.defaultEnvironment,
      last: last.map(condition.value(of:)) ?? .null, now: now)
    return condition.failure(with: inputs, &work)
  }

  /// Returns why a rule does not fire as far as its `if` is concerned, if it has not fired yet.
  mutating func firstCondition(
    _ rule: CompiledRule, _ context: TemplateContext, _ subject: Condition.Subject, last: String?
  ) -> LedgerReason? {
    guard let condition = rule.condition else { return nil }
    if let failure = self.condition(rule, context, subject, last: last) { return failure }
    // What can't be remembered would let the rule fire at each change.
    let size = condition.remembered.isEmpty ? 0 : condition.memory(of: context).count
    if size <= Condition.memoryLimit { return nil }
    return .conditionError(
      "remember has \(size) bytes, at most \(Condition.memoryLimit) are kept")
  }

  /// Returns whether a rule may fire as far as its `if` is concerned; closes the entry if not.
  ///
  /// It is evaluated at one of three places, by its scope: once for an event, for each person, or for
  /// each phone. The others admit everything.
  mutating func isAdmitted(
    _ rule: CompiledRule, _ context: TemplateContext, _ entry: LedgerEntry,
    at scope: Condition.Scope, _ phone: Phone? = nil
  ) -> Bool {
    guard rule.conditionScope == scope else { return true }
    var firing = RuleFiring(rule.name, context.event)
    if scope == .person {
      firing.app = entry.app
      firing.owner = entry.owner
    }
    if scope != .phone, !isFirstPart { return !formerlyBlocked.contains(firing) }
    let subject = Condition.Subject(app: entry.app, owner: entry.owner, phone: phone)
    let reason = firstCondition(rule, context, subject, last: conditions[rule.name]?.last)
    let isUpdate = context.event.name == "ride_updated"
    // The rows of several people or phones have one text: known is what an earlier event recorded.
    let known =
      (scope == .event ? conditions : decision.view.memo.conditions)[rule.name]?.complaint
    guard let reason else {
      if isUpdate { endComplaint(rule) }
      return true
    }
    if scope != .phone { blocked.append(firing) }
    if isUpdate {
      refuseUpdate(rule, entry, reason, known: known)
    } else {
      block(entry, reason)
    }
    return false
  }

  /// Ends what `if` blocks of a change of the ride: a false condition is only counted, and an error has
  /// no row if an earlier change had the same one.
  mutating func refuseUpdate(
    _ rule: CompiledRule, _ entry: LedgerEntry, _ reason: LedgerReason, known: String?
  ) {
    if reason.code == .engine(.conditionError) {
      conditions[rule.name, default: ConditionMemo()].complaint = reason.text
      if rule.conditionScope != .event { complaining.insert(rule.name) }
      if known != reason.text { block(entry, reason) }
    } else {
      endComplaint(rule)
      decision.settlement.falseConditions[rule.name, default: 0] += 1
    }
  }

  private mutating func endComplaint(_ rule: CompiledRule) {
    if conditions[rule.name]?.complaint == nil || complaining.contains(rule.name) { return }
    conditions[rule.name]?.complaint = nil
  }

  /// The number of pushes and events that this decision sends, leaves to a later one or to a card: what
  /// reaches people or rules.
  var livePushes: Int { decision.pushes.count + liveItems + decision.settlement.emits.count }

  /// Returns the last contact of a person, as far as the view has it.
  private func contact(of subject: Condition.Subject) -> Timestamp? {
    decision.view.contacts.first { $0.app == subject.app && $0.owner == subject.owner }?.at
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
    if conditions.isEmpty, blocked.isEmpty, isFirstPart { return }
    let before = decision.view.memo
    let isContinued = before.part?.remembered != nil || before.part?.blocked != nil
    if conditions.isEmpty, blocked.isEmpty, !isContinued { return }
    let all = (before.part?.remembered ?? [:]).merging(remembered) { $1 }
    if decision.settlement.memo.part != nil {
      // Each part decides as the first one did: what is remembered counts after the last part.
      for name in conditions.keys { conditions[name]?.last = before.conditions[name]?.last }
      decision.settlement.memo.part?.remembered = all.isEmpty ? nil : all
      let firings = (before.part?.blocked ?? []) + blocked
      decision.settlement.memo.part?.blocked = firings.isEmpty ? nil : firings
    } else {
      for (name, memory) in all { conditions[name, default: ConditionMemo()].last = memory }
    }
    guard decision.isActive else { return }
    decision.settlement.memo.conditions = conditions.filter { name, memo in
      !memo.isEmpty && configuration.rules.rule(named: name)?.condition != nil
    }
  }

  /// Returns whether a push or an event that waited may still leave; closes its entry if not.
  ///
  /// Everything that waited passes here. The ride's row and the time are those of now, the event and what the
  /// rule remembered are those of the firing.
  ///
  /// - Parameter phone: the push's phone; nil if there is none.
  mutating func mayStillLeave(_ item: WaitingItem, _ phone: Phone?) -> Bool {
    var entry = item.entry
    // Cards render the present state, raw pushes have no rule, and a push without its phone ends for
    // that reason.
    guard entry.startToken == nil, !InternalEvent.isRaw(entry.event.name),
      entry.phone == nil || phone != nil,
      let rule = configuration.rules.rule(named: entry.rule), let context = context(entry.event),
      let reason = rule.leftStates(context.ride.state) ?? failure(of: rule, item, context, phone)
    else { return true }
    if decision.view.mayHaveBeenSent, !lastsOnPurpose(item) { entry.doubtPreviousHolder() }
    block(entry, reason)
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

  /// Returns why the `if` of a rule blocks what waited; nil if it does not.
  private mutating func failure(
    of rule: CompiledRule, _ item: WaitingItem, _ context: TemplateContext, _ phone: Phone?
  ) -> LedgerReason? {
    guard let condition = rule.condition else { return nil }
    // An escalation is about all phones of its owner.
    if condition.readsPhone, phone == nil { return nil }
    let entry = item.entry
    let subject = Condition.Subject(app: entry.app, owner: entry.owner, phone: phone)
    if isFirstDecision(item) {
      let last = decision.view.memo.conditions[rule.name]?.last
      keepMemory(of: rule, entry.event, last: last)
      let known = decision.fired[RuleFiring(rule.name, entry.event).key]
      return firstCondition(rule, context, subject, last: known)
    }
    let last = decision.fired[RuleFiring(rule.name, entry.event).key]
    // The memo had no room for it.
    if condition.readsLast, last == nil { return nil }
    guard let reason = self.condition(rule, context, subject, last: last) else { return nil }
    return reason.code == .engine(.conditionFalse) ? .becameFalse(condition) : reason
  }

  /// Returns whether `if` has not been decided in this firing: it is when the time of `at` has come.
  private func isFirstDecision(_ item: WaitingItem) -> Bool {
    if item.wait.isFirst { return true }
    return item.wait.awaited?.isEmpty == true && item.entry.event.firesAt != nil
  }
}

extension Settlement {
  /// Keeps what the rules of waiting pushes remembered when they fired, as far as the memo has room.
  mutating func keepMemories(_ fired: [String: String]) {
    if fired.isEmpty { return }
    var room = MemoBudget.memories
    for item in memo.waiting {
      let key = RuleFiring(item.entry.rule, item.entry.event).key
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
