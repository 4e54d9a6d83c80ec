// `if` on a card decides whether RidePulse starts one: about the ride at once for all of its people, and
// then a later change may make it true; about a person on each event of `start`.

import Base

extension Decider {
  /// Returns whether `if` keeps the cards of a rule from being started now: then the start waits until a
  /// later decision finds it true.
  ///
  /// - Parameter isNew: whether the event has just happened; otherwise its row has a reason already.
  mutating func isStartBlocked(
    _ rule: CardRule, on event: RideEvent, _ entry: LedgerEntry, isNew: Bool
  ) -> Bool {
    guard rule.rule.conditionScope == .event else { return false }
    let known = conditions[rule.name]?.complaint
    guard let reason = startCondition(rule, event, of: nil) else {
      if known != nil { conditions[rule.name]?.complaint = nil }
      return false
    }
    if rideEnd(rule) == nil { decision.settlement.memo.awaitedStarts[rule.name] = event }
    if isNew, event.name == "ride_updated" {
      refuseUpdate(rule.rule, entry, reason, known: known)
    } else if isNew || known != reason.text {
      block(entry, reason)
    }
    conditions[rule.name, default: ConditionMemo()].complaint = reason.text
    return true
  }

  /// Returns why `if` keeps a card from one person; nil if it does not.
  mutating func startCondition(
    _ rule: CardRule, _ event: RideEvent, of owner: OwnerID?
  ) -> LedgerReason? {
    let context = owner != nil && hasAndroid ? androidContext(event) : context(event)
    guard let context else { return nil }
    let subject = Condition.Subject(app: rule.app, owner: owner)
    return condition(rule.rule, context, subject, last: nil)
  }
}
