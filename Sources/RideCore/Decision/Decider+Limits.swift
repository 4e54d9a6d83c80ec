// What a rule's topic, sample, quiet hours and cap keep from a person.

import Base
extension Decider {
  /// Returns why a rule sends an owner nothing at any hour; nil if nothing excludes the owner.
  func exclusion(
    of owner: OwnerID, in app: App, by rule: CompiledRule
  ) -> LedgerReason? {
    guard let limits = rule.limits else { return nil }
    if let sample = limits.sample, !sample.contains(owner, of: rule.name) {
      return .notInSample(sample)
    }
    return optOut(of: owner, in: app, from: rule)
  }

  /// Returns the reason if the owner has turned the rule's topic off.
  func optOut(of owner: OwnerID, in app: App, from rule: CompiledRule) -> LedgerReason? {
    guard let topic = rule.limits?.topic,
      decision.view.optOuts.contains(OptOut(app: app, owner: owner, topic: topic))
    else { return nil }
    return .optedOut(of: topic)
  }

  /// Holds or drops a push that falls due in its rule's quiet hours; returns whether it did.
  mutating func keepQuiet(_ push: PlannedPush, _ entry: LedgerEntry, _ planner: Planner) -> Bool {
    guard let quiet = planner.rule.limits?.quiet else { return false }
    let clock = quiet.wallClock(planner.context.clock)
    guard let end = quiet.end(at: now, in: clock.zone) else { return false }
    let hours = "quiet hours \(quiet.from.text) to \(quiet.to.text) \(clock.name)"
    switch quiet.action {
    case .drop: close(entry, .suppressed, LedgerReason(.quietHours, hours))
    case .hold where end >= push.validUntil:
      close(
        entry, .suppressed,
        LedgerReason(
          .quietHours,
          "\(hours) end at \(CivilTime.iso(end)), valid until \(CivilTime.iso(push.validUntil))"))
    case .hold:
      postpone(
        push, until: end, LedgerReason(.quietHours, "\(hours), held until \(CivilTime.iso(end))"))
    }
    return true
  }

  /// Sends a push, once it has a permit if its rule needs one.
  mutating func send(_ push: PlannedPush, _ entry: LedgerEntry, by rule: CompiledRule?) {
    guard let rule, let permit = permit(for: entry, by: rule) else {
      decision.pushes.append(push)
      return
    }
    let standing =
      rule.limits?.cap == nil ? .granted : decision.view.permits[permit.id]?.standing
    switch (standing, rule.limits?.cap) {
    case (.granted, _):
      decision.permits[entry.id] = permit
      decision.pushes.append(push)
    case (.refused, let cap?):
      close(entry, .suppressed, .overCap(cap, of: permit.topic))
    case (nil, let cap?):
      let request = PermitChanges.Request(
        permit: permit, cap: cap, validUntil: push.validUntil, occurredAt: entry.event.at)
      if !decision.permitRequests.contains(where: { $0.permit.id == permit.id }) {
        decision.permitRequests.append(request)
      }
      postpone(push, until: now, .awaitsPermit(of: permit.topic))
    case (_, nil): decision.pushes.append(push)
    }
  }

  /// Returns the permit that counts a push; nil if no rule counts its topic.
  private func permit(for entry: LedgerEntry, by rule: CompiledRule) -> Permit? {
    guard let topic = rule.limits?.topic,
      let window = configuration.rules.window(of: topic, for: entry.app),
      let owner = entry.owner, let id = entry.permitID(of: decision.view.rideID)
    else { return nil }
    return Permit(id: id, app: entry.app, owner: owner, topic: topic, window: window)
  }

  /// Keeps the order of a phone's pushes: what is newer than a push that waits for its permit
  /// follows it.
  mutating func followPermits() {
    if decision.permitRequests.isEmpty { return }
    var oldest: [LedgerEntry.Recipient: RideEvent] = [:]
    for entry in decision.postponed.lazy.map(\.entry) where entry.awaitsPermit {
      guard let recipient = entry.recipient else { continue }
      if oldest[recipient].map({ $0.isNewer(than: entry.event) }) ?? true {
        oldest[recipient] = entry.event
      }
    }
    let pushes = decision.pushes
    decision.pushes = []
    for push in pushes {
      if let first = push.entry.recipient.flatMap({ oldest[$0] }),
        push.entry.event.isNewer(than: first)
      {
        postpone(push, until: now, LedgerReason(.heldBack))
      } else {
        decision.pushes.append(push)
      }
    }
  }

  /// Closes pushes that quiet hours or a permit hold back, and whose place a newer one takes.
  mutating func supersedeHeld() {
    let isHeld = decision.postponed.contains { isWithheld($0) || $0.entry.awaitsPermit }
    if !isHeld { return }
    var places = self.places
    for pending in decision.postponed { places.add(pending.entry) }
    let postponed = decision.postponed
    decision.postponed = []
    for pending in postponed {
      if isWithheld(pending) || pending.entry.awaitsPermit,
        let newer = places.successor(of: pending.entry)
      {
        supersede(pending, by: newer)
      } else {
        decision.postponed.append(pending)
      }
    }
  }
}

extension LedgerEntry {
  var awaitsPermit: Bool { status == .pending && reason?.code == .engine(.awaitsPermit) }
}

extension LedgerReason {
  static func notInSample(_ sample: OwnerSample) -> LedgerReason {
    LedgerReason(.notInSample, "not in the sample of \(sample.text)")
  }

  static func optedOut(of topic: Topic) -> LedgerReason {
    LedgerReason(.optedOut, "the owner has turned \(topic) off")
  }

  static func overCap(_ cap: PushCap, of topic: Topic) -> LedgerReason {
    let pushes = cap.count == 1 ? "1 push" : "\(cap.count) pushes"
    return LedgerReason(.overCap, "\(pushes) of \(topic) within \(cap.period.rideText)")
  }

  static func awaitsPermit(of topic: Topic) -> LedgerReason {
    LedgerReason(.awaitsPermit, "waits for a permit of \(topic)")
  }
}

extension Decision {
  /// Returns what the settlement of this decision asks for and reports about permits.
  func permitChanges(_ outcomes: [PushOutcome], waiting: [PendingPush]) -> PermitChanges {
    var changes = PermitChanges()
    if permitRequests.isEmpty, permits.isEmpty, view.permits.isEmpty { return changes }
    let open = Set(waiting.compactMap { $0.entry.permitID(of: view.rideID) })
    changes.requests = permitRequests.filter { open.contains($0.permit.id) }
    var sent: Set<PushID> = []
    for (push, outcome) in zip(pushes, outcomes) {
      guard let permit = permits[push.entry.id] else { continue }
      let verdict = Verdict(outcome)
      if outcome == .accepted || verdict.mayHaveArrived { sent.insert(permit.id) }
    }
    // The ride's previous holder had these permits, and may have used them before it ended.
    if view.isTakenOver {
      sent.formUnion(view.permits.values.filter { $0.standing == .granted }.map(\.permit.id))
    }
    // Those that this decision used, and those that its waiting pushes had before.
    var known = Dictionary(
      permits.values.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    known.merge(view.permits.mapValues(\.permit)) { first, _ in first }
    changes.outcomes = known.values.sorted { $0.id.bits < $1.id.bits }.compactMap { permit in
      let (isSent, isDone) = (sent.contains(permit.id), !open.contains(permit.id))
      return isSent || isDone
        ? PermitChanges.Outcome(permit: permit, isSent: isSent, isDone: isDone) : nil
    }
    return changes
  }
}
