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

/// Finds the slot after an event (`after: { event: … }`), once for each occurrence.
///
/// The memo has the time of the last occurrence until its slot is accounted for, so nothing depends
/// on an event that was consumed long ago. A slot outside the rule's states doesn't count.
struct EventTimer {
  private let rule: TimedRule
  private let event: String
  private let offset: Duration
  private let now: Timestamp
  private var anchor: Timestamp?
  private var occurredAt: Timestamp?
  private(set) var result = TimerResult()

  init(
    _ rule: TimedRule, _ event: String, by offset: Duration, now: Timestamp, _ memo: SlotMemo?
  ) {
    self.rule = rule
    self.event = event
    self.offset = offset
    self.now = now
    anchor = memo?.anchor
    occurredAt = memo?.planned
  }

  mutating func run(_ view: RideView, isState: (String) -> Bool) {
    for event in view.events {
      if event.name == self.event { occur(at: event.at) }
      guard isState(event.name) else { continue }
      if rule.timing.states.contains(event.name) {
        enter(at: event.at)
      } else {
        leave(at: event.at)
      }
    }
    // The row may be ahead of events that were not read yet.
    if !view.hasMoreEvents {
      if let state = view.clockState, rule.timing.states.contains(state) {
        enter(at: min(now, view.ride?.updatedAt ?? now))
        fireIfReached(by: now)
        result.next = slot
      } else {
        leave(at: now, view.notInStates)
      }
    }
    if anchor == nil, occurredAt == nil { return }
    result.memo = SlotMemo(anchor: anchor, through: now, planned: occurredAt, fired: nil)
  }

  private var slot: Timestamp? { occurredAt.map { $0 + offset } }

  private mutating func occur(at instant: Timestamp) {
    fireIfReached(by: instant)
    occurredAt = instant
  }

  private mutating func enter(at instant: Timestamp) {
    if anchor != nil { return }
    anchor = instant
    if let slot, slot < instant { occurredAt = nil }
  }

  private mutating func leave(at instant: Timestamp, _ reason: LedgerReason = .leftStates) {
    if anchor != nil, let slot, slot < instant {
      result.tally.due += 1
      result.tally.skipped += 1
      result.skipped.append((slot, reason))
      occurredAt = nil
    }
    anchor = nil
  }

  private mutating func fireIfReached(by instant: Timestamp) {
    guard anchor != nil, let slot, slot <= instant else { return }
    result.fire(slot, rule, now: now)
    occurredAt = nil
  }
}

/// Finds when an owner has been out of contact for too long (`lost-contact`).
///
/// It counts from the later of the owner's last contact and the entry into the rule's states, and
/// finds one slot until there is another contact. A contact is no event, so the ride is evaluated
/// again when contact can be lost at the earliest.
struct ContactTimer {
  private let rule: TimedRule
  private let limit: Duration
  private let now: Timestamp
  private var memo: SlotMemo
  private(set) var result = TimerResult()

  init(_ rule: TimedRule, _ limit: Duration, now: Timestamp, _ memo: SlotMemo?) {
    self.rule = rule
    self.limit = limit
    self.now = now
    self.memo = memo ?? SlotMemo(anchor: nil, through: now, planned: nil, fired: nil)
  }

  mutating func run(_ view: RideView, attributes: JSONValue?, isState: (String) -> Bool) {
    for event in view.events {
      if isState(event.name) {
        memo.anchor = rule.timing.states.contains(event.name) ? memo.anchor ?? event.at : nil
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
      if rule.timing.states.contains(view.clockState ?? "") {
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
    let heard = max(contact ?? entered, entered)
    if max(memo.changed ?? heard, heard) + rule.timing.lostAfter < now { return }
    let slot = heard + limit
    if let fired = memo.fired, contact.map({ $0 + limit <= fired }) ?? true {
      result.next = now + limit
    } else if slot <= now {
      result.fire(slot, rule, now: now)
      memo.fired = slot
      result.next = now + limit
    } else {
      result.next = slot
    }
  }
}
