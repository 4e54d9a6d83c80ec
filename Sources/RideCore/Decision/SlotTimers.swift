import Base

/// What the evaluation of a rule with a single slot at a time found; see `ScheduleEvaluator`.
struct TimerResult {
  var memo: SlotMemo?
  var tally = SlotTally()
  var due: [Timestamp] = []
  var skipped: [(slot: Timestamp, reason: LedgerReason)] = []
  var next: Timestamp?

  mutating func fire(_ slot: Timestamp, _ rule: TimedRule, now: Timestamp) {
    due.append(slot)
    tally.due += 1
    if now >= slot + rule.rule.validity { tally.expired += 1 } else { tally.fired += 1 }
  }
}

/// Finds when an owner has been out of contact for too long (`at: contact + 3m`).
///
/// It counts from the later of the owner's last contact and the entry into the rule's states, and
/// finds one slot until there is another contact. Without any contact the app may not report them, and
/// nothing is found. A contact is no event, so the ride is evaluated
/// again when contact can be lost at the earliest.
struct ContactTimer {
  private let rule: TimedRule
  private let time: RuleTime
  private let now: Timestamp
  private var memo: SlotMemo
  private(set) var result = TimerResult()

  init(_ rule: TimedRule, _ time: RuleTime, now: Timestamp, _ memo: SlotMemo?) {
    self.rule = rule
    self.time = time
    self.now = now
    self.memo = memo ?? SlotMemo(anchor: nil, through: now, planned: nil, fired: nil)
  }

  mutating func run(_ view: RideView, attributes: JSONValue?, isState: (String) -> Bool) {
    for event in view.events {
      if isState(event.name) {
        memo.anchor = rule.states.contains(event.name) ? memo.anchor ?? event.at : nil
      }
      // Another person is out of contact only from then on.
      if memo.anchor != nil, let former = event.people?.former,
        RecipientResolver.owner(rule.rule.app, former) != nil
      {
        memo.anchor = max(memo.anchor ?? event.at, event.at)
        memo.fired = nil
      }
    }
    if !view.hasMoreEvents, let ride = view.ride {
      if rule.states.contains(view.clockState ?? "") {
        memo.anchor = memo.anchor ?? min(now, ride.updatedAt ?? now)
        evaluate(view, ride, attributes)
      } else {
        memo.anchor = nil
      }
    }
    memo.through = now
    if memo.anchor == nil { memo.changed = nil }
    // It outlives the states, because it fires once until the next contact.
    result.memo = memo.anchor == nil && memo.fired == nil ? nil : memo
  }

  private mutating func evaluate(_ view: RideView, _ ride: Ride, _ attributes: JSONValue?) {
    guard let entered = memo.anchor else { return }
    let context = TemplateContext(
      ride: ride, attributes: attributes,
      event: RideEvent(id: 0, name: rule.timing.keyword, at: now))
    guard let owner = RecipientResolver.present(rule.rule.app, in: context) else {
      // Without an owner it counts from the change that names one.
      memo.anchor = nil
      return
    }
    let contact = view.contacts.first { $0.app == rule.rule.app && $0.owner == owner }?.at
    memo.changed = ([memo.changed, ride.updatedAt] + view.events.map(\.at)).compactMap(\.self).max()
    guard let limit = limit(attributes) else { return }
    // An app that never reported a contact may report none.
    guard let contact else { return result.next = now + limit }
    let heard = max(contact, entered)
    if max(memo.changed ?? heard, heard) + rule.timing.lostAfter < now { return }
    let slot = heard + limit
    if let fired = memo.fired, contact + limit <= fired {
      result.next = now + limit
    } else if slot <= now {
      result.fire(slot, rule, now: now)
      memo.fired = slot
      result.next = now + limit
    } else {
      result.next = slot
    }
  }

  /// Returns how long without contact is too long; nil with a row if the ride does not state it.
  private mutating func limit(_ attributes: JSONValue?) -> Duration? {
    do throws(RenderingError) {
      guard let limit = try time.offset(in: attributes), limit > .zero else { return nil }
      memo.isUnreadable = false
      return limit
    } catch {
      if !memo.isUnreadable { result.skipped.append((now, error.ledgerReason)) }
      memo.isUnreadable = true
      return nil
    }
  }
}
