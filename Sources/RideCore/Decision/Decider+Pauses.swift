// Pauses: what a paused rule, event or app would send waits, and is decided again afterwards.

import Base

extension Decider {
  /// Returns the pause that something falls under; nil if none does.
  func pause(of entry: LedgerEntry) -> Pause? {
    configuration.pauses.pause(of: entry, at: now)
  }

  /// Whether an item waits for a pause that is over: its own time need not have come.
  func isResumed(_ item: WaitingItem) -> Bool { item.isPaused && pause(of: item.entry) == nil }

  /// Leaves a push for the end of a pause.
  ///
  /// A slot that APNs would not store is about its own moment: its successor takes its place.
  mutating func wait(_ push: PlannedPush, for pause: Pause) {
    if push.entry.isOfSlot, push.request.headers.expiration == .neverStore {
      return block(push.entry, .paused(pause))
    }
    var push = push
    if push.entry.event.firing < pause.since { doubtBeforeHold(of: &push) }
    wait(
      push.entry, .paused(until: pause.nextLook(at: now, before: push.validUntil)),
      .paused(pause), image: push.image)
  }

  /// Leaves what has no push for the end of a pause: an event to emit, an alert that a card would show.
  mutating func wait(_ entry: LedgerEntry, of rule: CompiledRule?, for pause: Pause) {
    let validUntil = rule.map { entry.event.firing + $0.validity }
    if let validUntil, now >= validUntil { return close(entry, .expired, .validUntil(validUntil)) }
    wait(
      entry, .paused(until: pause.nextLook(at: now, before: validUntil)), .paused(pause))
  }

  /// Returns the next look of an item whose pause goes on, so that its ledger row stays as it is; nil
  /// for anything else.
  func nextLook(at item: WaitingItem) -> Timestamp? {
    guard item.isPaused, let pause = pause(of: item.entry),
      let rule = configuration.rules.rule(named: item.entry.rule)
    else { return nil }
    let validUntil = item.entry.event.firing + rule.validity
    return now < validUntil ? pause.nextLook(at: now, before: validUntil) : nil
  }

  /// Names the pause in the row of what has expired while it waited for one.
  mutating func namePause(_ item: WaitingItem, since count: Int) {
    guard item.isPaused, let pause = item.entry.reason else { return }
    for index in decision.items.indices.dropFirst(count)
    where decision.items[index].entry.id == item.entry.id
      && decision.items[index].entry.status == .expired
    {
      let reason = decision.items[index].entry.reason?.text ?? ""
      decision.items[index].entry.reason = LedgerReason(.paused, "\(reason); \(pause.text)")
    }
  }

  /// Leaves an escalation for the end of a pause, which holds back its push, too; returns whether it
  /// did. The owner then has the rule's whole time to see the push.
  mutating func waitsForPause(
    _ item: WaitingItem, _ escalation: Escalation, validUntil: Timestamp
  ) -> Bool {
    let pushes = item.wait.awaited ?? []
    if let pause = pause(of: item.entry) {
      let wait = Wait.receipt(until: pause.nextLook(at: now, before: validUntil), of: pushes)
      if item.isPaused {
        keep(WaitingItem(entry: item.entry, wait: wait, image: item.image))
      } else {
        self.wait(item.entry, wait, .paused(pause))
      }
      return true
    }
    guard item.isPaused else { return false }
    let due = min(now + escalation.limit, validUntil)
    wait(item.entry, .receipt(until: due, of: pushes), .awaitsReceipt(escalation, until: due))
    return true
  }
}

extension WaitingItem {
  /// Whether it waits because of a pause.
  var isPaused: Bool { wait.isDeliberate && entry.reason?.code == .engine(.paused) }
}

extension Pause {
  /// How often what waits looks whether the pause was ended. `ridepulse.resume` makes rides due that no
  /// node holds; a node that holds one may not know of it yet.
  package static let interval: Duration = .seconds(30)

  fileprivate func nextLook(at now: Timestamp, before validUntil: Timestamp?) -> Timestamp {
    min(until, now + Self.interval, validUntil ?? until)
  }
}

extension LedgerReason {
  static func paused(_ pause: Pause) -> LedgerReason {
    let why = pause.reason.map { ": \($0)" } ?? ""
    let text = "\(pause.subject) is paused until \(CivilTime.iso(pause.until))\(why)"
    return LedgerReason(.paused, text.brief(bytes: 300), times: pause.until)
  }

  static func awaitsReceipt(_ escalation: Escalation, until due: Timestamp) -> LedgerReason {
    LedgerReason(
      .waitingForReceipt,
      "waits for a receipt: emits \(escalation.event) unless seen by \(CivilTime.iso(due))",
      times: due)
  }
}
