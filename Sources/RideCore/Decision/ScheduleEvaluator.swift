import Base

/// Finds which slots of one rule are due for one ride, and accounts for every slot that was due.
///
/// A ride is in the rule's states from one event to another; slots outside that time don't count.
///
/// Its functions take the ride's view, whose copy for each rule would cost more than they do.
struct ScheduleEvaluator {
  let rule: TimedRule
  let attributes: JSONValue?
  let now: Timestamp

  private(set) var memo: SlotMemo?
  /// Whether the ride has entered the states since the last decision.
  private var hasEntered = false
  private(set) var tally = SlotTally()
  /// The slots at which the rule fires now, oldest first.
  private(set) var due: [Timestamp] = []
  /// Slots at which it does not fire, as recorded in the ledger: the newest of each group, and why.
  private(set) var skipped: [(slot: Timestamp, reason: LedgerReason)] = []
  private(set) var next: Timestamp?

  init(_ rule: TimedRule, of view: RideView, attributes: JSONValue?, now: Timestamp) {
    self.rule = rule
    self.attributes = attributes
    self.now = now
    memo = view.memo.slots[rule.key]
  }

  /// Follows the ride through its events, and then up to now.
  mutating func run(_ view: RideView, isState: (String) -> Bool) {
    if let time = rule.time, time.isOfContact {
      var timer = ContactTimer(rule, time, now: now, memo)
      timer.run(view, attributes: attributes, isState: isState)
      return take(timer.result)
    }
    skipWhileLost(view)
    for event in view.events where isState(event.name) {
      if rule.states.contains(event.name) {
        enter(at: event.at, through: event.at)
      } else {
        leave(view, at: event.at)
      }
    }
    // The row may be ahead of events that were not read yet.
    if view.hasMoreEvents { return recordChange(view) }
    if let state = view.clockState, rule.states.contains(state) {
      // No event led here: the rule is new, or the ride is older than RidePulse. Its slots before
      // now don't count.
      enter(at: min(now, view.ride?.updatedAt ?? now), through: now)
      recordChange(view)
      advance(view)
    } else {
      leave(view, at: now, view.notInStates)
    }
  }

  private mutating func take(_ result: TimerResult) {
    (memo, tally, due, skipped) = (result.memo, result.tally, result.due, result.skipped)
    next = result.next
  }

  /// Skips the heartbeats of a time in which the ride did not change for longer than `lost-after`.
  private mutating func skipWhileLost(_ view: RideView) {
    guard let lostAt, var memo, memo.anchor != nil, let changed = memo.changed else { return }
    var next = view.ride?.updatedAt.flatMap { $0 > changed ? $0 : nil }
    for event in view.events where event.at > changed { next = min(next ?? event.at, event.at) }
    let end = next ?? now
    // Most rides change in time.
    guard end > lostAt, let series = series(memo, view) else { return }
    let before = series.count(after: memo.through, through: lostAt)
    if before > 0 {
      tally.due += before
      fire(series, before, after: memo.through, through: lostAt)
    }
    memo.through = max(memo.through, lostAt)
    let count = series.count(after: memo.through, through: end)
    if count > 0 {
      tally.due += count
      tally.skipped += count
      let limit = rule.timing.lostAfter.rideText
      record(
        series, count, upTo: end,
        LedgerReason(.rideInactive, "the ride had not changed for \(limit)"))
    }
    memo.through = max(memo.through, end)
    self.memo = memo
  }

  /// When heartbeats stop unless the ride changes; nil for other rules.
  private var lostAt: Timestamp? {
    guard case .every = rule.timing.slots else { return nil }
    return memo?.changed.map { $0 + rule.timing.lostAfter }
  }

  private mutating func recordChange(_ view: RideView) {
    guard case .every = rule.timing.slots, let memo else { return }
    var changed = view.ride?.updatedAt
    if let known = memo.changed { changed = max(changed ?? known, known) }
    for event in view.events { changed = max(changed ?? event.at, event.at) }
    self.memo?.changed = changed ?? memo.anchor
  }

  private mutating func enter(at anchor: Timestamp, through: Timestamp) {
    if memo?.anchor != nil { return }
    hasEntered = true
    memo = SlotMemo(anchor: anchor, through: through, planned: nil, fired: memo?.fired)
  }

  private mutating func leave(
    _ view: RideView, at instant: Timestamp, _ reason: LedgerReason = .leftStates
  ) {
    guard var left = memo, left.anchor != nil else { return }
    hasEntered = false
    if let series = series(left, view) {
      let count = series.count(after: left.through, through: instant)
      if count > 0 {
        tally.due += count
        tally.skipped += count
        record(series, count, upTo: instant, reason)
      }
    }
    left.anchor = nil
    left.planned = nil
    left.changed = nil
    left.isUnreadable = false
    memo = left.fired == nil ? nil : left
  }

  private mutating func advance(_ view: RideView) {
    plan(view)
    guard var memo else { return }
    let series = series(memo, view)
    if series == nil, hasEntered, case .cron = rule.timing.slots {
      skipped.append((now, RenderingError.unknownZone(view.ride?.timeZone ?? "").ledgerReason))
    }
    let count = series?.count(after: memo.through, through: now) ?? 0
    if let series, count > 0 {
      tally.due += count
      fire(series, count, after: memo.through, through: now)
      if case .once(let slot) = series { memo.fired = slot }
    }
    memo.through = max(memo.through, now)
    self.memo = memo
    next = series?.next(after: memo.through)
    if let slot = next, let lostAt, slot > lostAt { next = nil }
  }

  private mutating func fire(
    _ series: SlotSeries, _ count: Int, after: Timestamp, through: Timestamp
  ) {
    if case .cron(_, _, let missed) = rule.timing.slots {
      catchUp(series, missed, after: after)
      markDue(series.last(count, after: max(after, now - Timing.grace), through: now))
      return
    }
    // A heartbeat is not made up for once its successor is due.
    let newest = series.last(1, after: after, through: through)
    markDue(newest)
    guard count > 1, let newest = newest.first else { return }
    tally.skipped += count - 1
    record(
      series, count - 1, upTo: newest - .microseconds(1),
      LedgerReason(.nextWasDue, "too late: the next slot was due"))
  }

  /// Makes up for cron slots that were not evaluated in time, as far as `missed` allows.
  private mutating func catchUp(_ series: SlotSeries, _ missed: Timing.Missed, after: Timestamp) {
    let end = now - Timing.grace
    let count = series.count(after: after, through: end)
    if count == 0 { return }
    let wanted =
      switch missed {
      case .skip: 0
      case .latest: series.last(1, after: max(after, end), through: now).isEmpty ? 1 : 0
      case .all(let bound): bound
      }
    let slots = series.last(wanted, after: after, through: end)
    let left = count - slots.count
    if left > 0 {
      let newest = slots.first.map { $0 - .microseconds(1) } ?? end
      if case .all(let bound) = missed {
        tally.capped += left
        record(
          series, left, upTo: newest,
          LedgerReason(.capped, "beyond the \(bound) slots that missed: all makes up for"))
      } else {
        tally.missed += left
        record(series, left, upTo: newest, LedgerReason(.missed, "missed: no claim in time"))
      }
    }
    markDue(slots)
  }

  private mutating func markDue(_ slots: [Timestamp]) {
    for slot in slots {
      due.append(slot)
      if now >= slot + rule.rule.validity { tally.expired += 1 } else { tally.fired += 1 }
    }
  }

  /// Updates the slot of a reminder if the ride's time has moved.
  private mutating func plan(_ view: RideView) {
    guard let time = rule.time, case .ride(let base) = time.base, var memo else { return }
    let slot: Timestamp?
    do throws(RenderingError) {
      let offset = try time.offset(in: attributes)
      slot = try view.ride?.time(base, attributes: attributes).flatMap { time in
        offset.map { time + $0 }
      }
      memo.isUnreadable = false
    } catch {
      slot = nil
      if !memo.isUnreadable { skipped.append((now, error.ledgerReason)) }
      memo.isUnreadable = true
    }
    self.memo = memo
    if slot == memo.planned { return }
    let setAt = hasEntered ? memo.through : view.events.first.map(\.at) ?? now
    memo.planned = slot
    defer { self.memo = memo }
    guard let slot else { return }
    memo.through = setAt
    // After a reminder fired, a small move of its time does not repeat it; another appointment
    // does.
    if let fired = memo.fired, slot <= fired + Self.another {
      memo.through = max(now, slot)
    } else if slot <= setAt, slot + rule.timing.late >= setAt, rule.timing.late > .zero {
      tally.due += 1
      markDue([slot])
      memo.fired = slot
      memo.through = max(now, slot)
    } else if slot <= setAt, !view.events.isEmpty {
      tally.due += 1
      tally.skipped += 1
      skipped.append((slot, .setTooLate(slot)))
    }
  }

  /// How much later than one that has fired a time must be to fire again.
  private static let another: Duration = .seconds(60)

  private mutating func record(
    _ series: SlotSeries, _ count: Int, upTo instant: Timestamp, _ reason: LedgerReason
  ) {
    guard let slot = series.last(1, after: .init(microseconds: .min), through: instant).last
    else { return }
    let text = count == 1 ? reason.text : "\(reason.text) (\(count) slots up to this one)"
    skipped.append((slot, LedgerReason(reason.code, text)))
  }

  private func series(_ memo: SlotMemo, _ view: RideView) -> SlotSeries? {
    switch rule.timing.slots {
    case .every(let period):
      return memo.anchor.map {
        .beats(since: $0, period: period, of: view.rideID, rule: rule.name)
      }
    case .times: return memo.planned.map { .once($0) }
    case .cron(let schedule, .named(let zone), _): return .cron(schedule, zone)
    case .cron(let schedule, .ride, _):
      return view.ride.flatMap { ZoneTimes(identifier: $0.timeZone) }.map { .cron(schedule, $0) }
    }
  }
}

extension Ride {
  /// Returns a time of the ride; nil if there is none.
  func time(
    _ time: RideTime, attributes: JSONValue?
  ) throws(RenderingError) -> Timestamp? {
    guard case .attribute(let keys) = time else { return pickupAt }
    guard let value = attributes?.value(at: keys), value != .null, value != .string("") else {
      return nil
    }
    if let instant = TemplateContext.instant(from: value) { return instant }
    throw .notATime((["attributes"] + keys).joined(separator: "."), value)
  }
}
