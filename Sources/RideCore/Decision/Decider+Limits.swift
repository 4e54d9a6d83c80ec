// What a rule's topic, quiet hours and cap keep from a person.

import Base
extension Decider {
  /// Returns the reason if the owner has turned the rule's topic off.
  func optOut(of owner: OwnerID, in app: App, from rule: CompiledRule) -> LedgerReason? {
    guard let topic = rule.limits?.topic,
      decision.view.optOuts.contains(OptOut(app: app, owner: owner, topic: topic))
    else { return nil }
    return .optedOut(of: topic)
  }

  /// Holds or drops a push that falls due in its rule's quiet hours; returns whether it did.
  mutating func keepQuiet(
    _ push: PlannedPush, _ entry: LedgerEntry, _ planner: Planner, _ texts: PhoneTexts
  ) -> Bool {
    guard let quiet = planner.rule.limits?.quiet else { return false }
    let clock = quiet.wallClock(planner.context.on(texts))
    guard let end = quiet.end(at: now, in: clock.zone) else { return false }
    let hours = "quiet hours \(quiet.from.text) to \(quiet.to.text) \(clock.name)"
    switch quiet.action {
    case .drop: block(entry, LedgerReason(.quietHours, hours))
    case .hold where end >= push.validUntil:
      block(
        entry,
        LedgerReason(
          .quietHours,
          "\(hours) end at \(CivilTime.iso(end)), valid until \(CivilTime.iso(push.validUntil))",
          times: end, push.validUntil))
    case .hold:
      var push = push
      if quiet.end(at: entry.event.firing, in: clock.zone) != end { doubtBeforeHold(of: &push) }
      wait(
        push, .quiet(until: end),
        LedgerReason(
          .quietHours, "\(hours), held until \(CivilTime.iso(end))", times: end))
    }
    return true
  }

  /// Plans a push to be sent, unless it falls under a pause or its rule needs a permit that was
  /// refused.
  mutating func send(
    _ push: consuming PlannedPush, _ entry: LedgerEntry, by rule: CompiledRule?
  ) {
    if let pause = pause(of: entry) { return wait(push, for: pause) }
    if let rule, let permit = permit(for: entry, by: rule) {
      let standing = decision.view.permits[permit.id]
      if let cap = rule.limits?.cap {
        if standing == .refused {
          return block(entry, .overCap(cap, of: permit.pushes))
        }
        let isKnown =
          standing != nil || decision.permitRequests.contains { $0.permit.id == permit.id }
        if !isKnown {
          decision.permitRequests.append(
            PermitRequest(
              permit: permit, cap: cap, validUntil: push.validUntil,
              occurredAt: entry.event.firing))
        }
      }
      decision.permits[entry.id] = permit
    }
    decision.pushes.append(push)
  }

  /// Returns the permit that counts a push; nil if no rule counts it.
  func permit(for entry: LedgerEntry, by rule: CompiledRule) -> Permit? {
    // A rule without limits may have one of its name with them in another set of rules.
    let pushes = rule.limits.map { CountedPushes($0, of: rule.name) } ?? .rule(rule.name)
    guard let window = configuration.permitWindows.window(of: pushes, for: entry.app),
      let owner = entry.owner, let id = entry.permitID(of: decision.view.rideID)
    else { return nil }
    return Permit(
      id: id, app: entry.app, owner: owner, pushes: pushes, ride: decision.view.rideID,
      window: window)
  }
}

extension LedgerReason {
  static func optedOut(of topic: Topic) -> LedgerReason {
    LedgerReason(.optedOut, "the owner has turned \(topic) off")
  }

  static func overCap(_ cap: PushCap, of counted: CountedPushes) -> LedgerReason {
    let pushes = cap.count == 1 ? "1 push" : "\(cap.count) pushes"
    let source =
      switch counted {
      case .topic(let topic): "\(topic)"
      case .rule: "this rule"
      }
    let period =
      switch cap.period {
      case .time(let time): "within \(time.rideText)"
      case .ride: "in this ride"
      }
    return LedgerReason(.overCap, "\(pushes) of \(source) \(period)")
  }
}

extension Decision {
  /// Returns the outcomes of the permits that this decision's pushes used, or had before.
  func permitOutcomes(_ outcomes: [PushOutcome], waiting: [WaitingItem]) -> [PermitOutcome] {
    if permits.isEmpty, formerPermits.isEmpty { return [] }
    let open = Set(waiting.compactMap { $0.entry.permitID(of: view.rideID) })
    var sent: Set<PushID> = []
    for (push, outcome) in zip(pushes, outcomes) {
      guard let permit = permits[push.entry.id] else { continue }
      if Verdict(outcome).mayHaveArrived { sent.insert(permit.id) }
    }
    let known = Set(permits.values).union(formerPermits.keys)
    return known.sorted { $0.id.bits < $1.id.bits }.compactMap { permit in
      // The ride's previous holder may have used them before it ended.
      let isSent =
        sent.contains(permit.id) || view.mayHaveBeenSent && formerPermits[permit] != false
      let isDone = !open.contains(permit.id)
      return isSent || isDone
        ? PermitOutcome(permit: permit, isSent: isSent, isDone: isDone) : nil
    }
  }
}
