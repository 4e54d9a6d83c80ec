/// Decides what one ride needs now.
///
/// A pure function: equal views, rulebooks and instants give equal decisions. The service sends
/// what it says, a dry run prints it.
public func decide(_ view: RideView, by rulebook: Rulebook, now: Instant) -> Decision {
  var decider = Decider(view: view, rulebook: rulebook, now: now)
  decider.run()
  return decider.decision
}

/// The state of one call of `decide`.
struct Decider {
  let rulebook: Rulebook
  let now: Instant
  /// The ride's attributes, read once for all events and rules.
  let attributes: JSONValue?
  var decision: Decision
  /// Cards that can be sent nothing now, by `Card.id`: they say nothing aloud.
  var mute: Set<Int64> = []

  init(view: RideView, rulebook: Rulebook, now: Instant) {
    self.rulebook = rulebook
    self.now = now
    decision = Decision(view: view)
    switch view.ride?.attributes {
    case "{}": attributes = .object([:])
    case let text?: attributes = JSONValue(json: text.utf8)
    case nil: attributes = nil
    }
    if let state = view.ride?.state {
      decision.isActive = rulebook.rules.activeStates.contains(state)
    }
  }

  mutating func run() {
    speakOfCards()
    for event in decision.view.events {
      if event.isLegacyPush(of: decision.view.rideID) {
        speakOfLegacy(event)
        continue
      }
      let rules = rulebook.rules.rules(on: event.name)
      if rules.isEmpty { continue }
      guard let scope = scope(event) else {
        for rule in rules { close(draft(rule, event), .suppressed, "ride not found") }
        continue
      }
      for rule in rules { speak(rule, scope) }
    }
    speakOfSlots()
    retryWhatIsDue()
  }

  /// The rules that speak by the clock.
  private mutating func speakOfSlots() {
    if decision.view.ride == nil { return }
    for rule in rulebook.rules.timed where concerns(rule) {
      var keeper = SlotKeeper(rule, of: decision.view, attributes: attributes, now: now)
      keeper.run(isState: rulebook.rules.isState)
      for slot in keeper.due {
        if let scope = scope(event(of: rule, at: slot)) { speak(rule.rule, scope) }
      }
      for (slot, reason) in keeper.passedOver {
        close(draft(rule.rule, event(of: rule, at: slot)), .suppressed, reason)
      }
      if keeper.tally.due > 0 { decision.tallies[rule.rule.rule.name] = keeper.tally }
      // A ride that is over needs no memory of what was: only of what is still to come.
      if let memo = keeper.memo, decision.isActive || keeper.next != nil {
        decision.slots[rule.rule.rule.name] = memo
      }
      if let next = keeper.next { decision.nextSlot = min(decision.nextSlot ?? next, next) }
    }
  }

  /// Whether the ride is, was or comes to be in the rule's states: for most rules it is not, and
  /// to see that costs little.
  private func concerns(_ rule: TimedRule) -> Bool {
    let view = decision.view
    return view.memo.slots[rule.rule.rule.name] != nil
      || view.ride?.state.map(rule.timing.states.contains) == true
      || view.events.contains { rule.timing.states.contains($0.name) }
  }

  private func event(of rule: TimedRule, at slot: Instant) -> RideEvent {
    RideEvent(id: 0, name: rule.timing.keyword, at: slot)
  }

  private mutating func retryWhatIsDue() {
    let retries = decision.view.memo.retries
    for pending in retries {
      if let newer = decision.pushes.map(\.entry).first(where: pending.entry.isSuperseded)
        ?? retries.map(\.entry).first(where: pending.entry.isSuperseded)
      {
        close(pending.entry, .suppressed, "superseded by \(newer.event.name)")
      } else if pending.due > now {
        decision.waiting.append(pending)
      } else {
        retry(pending.entry)
      }
    }
  }

  /// One rule speaks on one event, to each phone of the app's owner.
  private mutating func speak(_ rule: CompiledRule, _ scope: Scope) {
    let app = rule.rule.app
    var nobody = draft(rule, scope.event)
    guard let owner = Router.owner(of: app, in: scope) else {
      return close(nobody, .suppressed, "the ride has no \(app)")
    }
    var planner = Planner(rule: rule, scope: scope, rulebook: rulebook, now: now)
    var phones = 0
    for phone in decision.view.phones where phone.app == app && phone.ownerID == owner {
      phones += 1
      nobody.id = pushID(rule, scope.event, phone.token)
      nobody.phone = phone.id
      nobody.tokenSuffix = String(phone.token.suffix(6))
      if let reason = contact(rule, phone) {
        close(nobody, .suppressed, reason)
      } else if mayBeTold(rule, scope.event, phone) {
        hold(nobody, phone)
      } else {
        plan(&planner, nobody, phone)
      }
    }
    if phones == 0 { close(nobody, .suppressed, "no phone of \(app) \(owner)") }
  }

  /// A push that failed before goes again, as the ride is now.
  private mutating func retry(_ entry: LedgerEntry) {
    if let start = entry.startToken { return retryStart(entry, start) }
    if entry.event.isLegacyPush(of: decision.view.rideID) { return retryLegacy(entry) }
    guard let rule = rulebook.rules.rule(named: entry.rule) else {
      return close(entry, .suppressed, "the rule is gone")
    }
    guard let phone = decision.view.phones.first(where: { $0.id == entry.phone }) else {
      return close(entry, .suppressed, "the phone is disabled")
    }
    guard let scope = scope(entry.event) else {
      return close(entry, .suppressed, "ride not found")
    }
    if case .at(let timing) = rule.rule.when, !timing.states.contains(scope.ride.state ?? "") {
      return close(entry, .suppressed, "the ride left the states of the rule")
    }
    if let reason = contact(rule, phone) { return close(entry, .suppressed, reason) }
    if mayBeTold(rule, entry.event, phone) { return hold(entry, phone) }
    var planner = Planner(rule: rule, scope: scope, rulebook: rulebook, now: now)
    plan(&planner, entry, phone)
  }

  /// Whether a card of the phone's owner says the same aloud.
  private mutating func mayBeTold(_ rule: CompiledRule, _ event: RideEvent, _ phone: Phone) -> Bool
  {
    rule.rule.what.pushType == .alert && !rule.rule.isSentWithCard
      && isTold(event, to: phone.ownerID, by: phone.app)
  }

  private mutating func hold(_ entry: LedgerEntry, _ phone: Phone) {
    var entry = entry
    entry.status = .suppressed
    entry.reason = "the card says it"
    decision.held.append(HeldAlert(entry: entry, owner: phone.ownerID))
  }

  mutating func close(
    _ entry: LedgerEntry, _ status: LedgerEntry.Status, _ reason: String
  ) {
    var entry = entry
    if decision.view.isTakenOver, status == .expired, entry.phone != nil {
      entry.doubt = entry.doubt ?? .takenOver
    }
    entry.end(status, reason)
    decision.closed.append(entry)
  }

  func scope(_ event: RideEvent) -> Scope? {
    decision.view.ride.map { Scope(ride: $0, attributes: attributes, event: event) }
  }

  func draft(_ rule: CompiledRule, _ event: RideEvent) -> LedgerEntry {
    LedgerEntry(
      id: pushID(rule, event, ""), event: event, rule: rule.rule.name, app: rule.rule.app,
      pushType: rule.rule.what.pushType, status: .pending, attempts: 0)
  }

  /// One ID for (event or slot, rule, phone), whoever sends it and how often.
  private func pushID(_ rule: CompiledRule, _ event: RideEvent, _ token: String) -> PushID {
    if case .at = rule.rule.when {
      return PushID(
        of: "slot", String(event.at.microseconds), decision.view.rideID, rule.rule.name, token)
    }
    return PushID(of: "event", String(event.id), decision.view.rideID, rule.rule.name, token)
  }
}
