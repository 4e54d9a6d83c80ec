import Base

/// Since when a card can only end, and why.
struct CardEnd {
  var at: Timestamp
  /// The event or state after which the ride is over; nil if it is not.
  var cause: String?
  /// The ledger's reason; nil if the ride is over.
  var reason: LedgerReason?
  /// Whether it leaves the lock screen at once, whatever the rule states.
  var isAtOnce = false
}

extension Decider {
  /// Evaluates the ride's cards: updates each of them, and starts one if there is none.
  mutating func evaluateCards() {
    closeUnknownStarts()
    decision.settlement.memo.runs = decision.view.memo.runs
    for rule in configuration.rules.cards where concerns(rule) {
      let refreshContext = context(RideEvent.refresh(at: now))
      let rendered = RenderedCard(rule, in: refreshContext)
      if let storage = rule.life.broadcast {
        broadcast(rule, rendered, refreshContext, storage)
        continue
      }
      for card in decision.view.cards
      where card.app == rule.app && !card.isGone && !card.target.isPhone {
        let content = content(rendered, of: rule, for: card.ownerID, card.installationID)
        let memo = decision.view.memo.cards[card.target]
        update(card, memo, of: rule, content, refreshContext)
      }
      startCards(of: rule, rendered)
    }
    for (target, memo) in decision.view.memo.cards.sorted(by: { $0.key < $1.key })
    where memo.isPending && !target.isPhone && decision.settlement.memo.cards[target] == nil {
      if let rule = configuration.rules.cards.first {
        close(
          entry(of: target, memo, rule), .suppressed, LedgerReason(.cardGone, "the card is gone"))
      }
    }
  }

  /// Returns whether the ride may have a card of this rule.
  ///
  /// Most rides have none, and this check is cheap.
  private func concerns(_ rule: CardRule) -> Bool {
    let app = rule.app
    if rule.life.broadcast != nil, needsChannel(rule) { return true }
    return decision.view.channels.contains { $0.app == app }
      || decision.view.cards.contains { $0.app == app }
      || newEvents.contains { rule.life.start.contains($0.name) }
      || decision.view.memo.awaitedStarts[rule.name] != nil
  }

  mutating func update(
    _ card: Card, _ memo: CardMemo?, of rule: CardRule, _ rendered: RenderedCard,
    _ refreshContext: TemplateContext?
  ) {
    let isNew = memo == nil
    var machine = CardStateMachine(
      rule.life.life(in: decision.view.ride?.state), card, memo, now: now)
    if decision.view.isTakenOver || card.phone != nil && decision.view.mayHaveBeenSent {
      machine.followUnrecordedPushes(until: decision.view.heldUntil ?? now)
    }
    // Each part of a pass reads other phones, and each card its events once.
    machine.handle(card.phone == nil ? newEvents : events, isState: configuration.rules.isState)
    let starts = isNew ? self.starts(of: card) : []
    if card.phone == nil { schedule(&machine, card, rule, isNew: isNew && starts.isEmpty) }
    // A card that was registered after the event has the score of its start, otherwise of the state.
    for cause in [starts.last?.entry.event.name, decision.view.ride?.state].compactMap(\.self)
    where machine.memo.scoredBy == nil { machine.score(by: cause) }
    // A change that a started card could not receive while it had no update token has waited long
    // enough.
    if starts.contains(where: { $0.shown != rendered.shown }) { machine.memo.isUrgent = true }
    closeReplacedAlerts(&machine, of: rule, card)
    let end = endCondition(machine, card, rule, refreshContext)
    if let refreshContext, RecipientResolver.isPresent(card.ownerID, card.app, in: refreshContext) {
      machine.memo.hasMatchedOwner = true
    }
    // An end leaves without content: its row must not be that of the problem.
    let isReachable = card.phone?.problem?.isQuarantined != true
    if let problem = rendered.problem, machine.memo.endsAt == nil, isReachable {
      complain(&machine, .suppressed, problem, rule, card)
    }
    if let end, machine.memo.endsAt == nil { self.end(&machine, end, card, rule) }
    // A card that is removed shows no alert: its rule's own is sent.
    if machine.memo.isDismissed || card.phone != nil && machine.isRemoved {
      machine.memo.alert = nil
    }
    let shown = machine.fingerprint(of: rendered.shown)
    defer { decision.settlement.memo.cards[card.target] = machine.memo }
    if let phone = card.phone, isUnreachable(phone, &machine, card, rule) {
      suppressedCards.insert(card.target)
      return
    }
    if machine.isPastScreen {
      suppressedCards.insert(card.target)
      close(
        entry(of: card.target, machine.memo, rule, card), .expired,
        LedgerReason(.cardTooOld, "a card stays at most 12 hours"))
      if card.phone != nil { return machine.finish() }
      decision.settlement.invalidations.append(.ofCard(card.target, since: nil, reason: "expired"))
      for id in startIDs(of: card) { decision.settlement.memo.starts[id] = nil }
      return
    }
    if !configuration.pauses.isEmpty,
      let pause = pause(of: entry(of: card.target, machine.memo, rule, card))
    {
      suppressedCards.insert(card.target)
      complain(&machine, .suppressed, .paused(pause), rule, card)
      return scheduleCards(at: min(pause.until, now + Pause.interval))
    }
    guard let update = machine.update(shown) else {
      suppressedCards.insert(card.target)
      if machine.isUnneeded(shown) {
        close(
          entry(of: card.target, machine.memo, rule, card), .superseded,
          .superseded(by: "what came after it"))
        machine.drop()
      }
      return scheduleCards(at: machine.due(shown))
    }
    do {
      var push = try plan(update, &machine, card, rule, rendered)
      push.acceptedReason = end?.reason ?? push.acceptedReason
      decision.pushes.append(push)
    } catch {
      // What can't be sent is recorded once, and tried again when something has changed.
      suppressedCards.insert(card.target)
      complain(&machine, error.status, error.reason, rule, card)
      scheduleCards(at: machine.due(nil))
    }
  }

  /// Records when a card appears that the app has scheduled.
  private mutating func schedule(
    _ machine: inout CardStateMachine, _ card: Card, _ rule: CardRule, isNew: Bool
  ) {
    // A card that was started by push is on the screen.
    let opening = (try? opening(of: rule)) ?? nil
    guard let alert = machine.schedule(opening, isNew: isNew) else { return }
    close(
      alert, .suppressed, LedgerReason(.cardPending, "the card has not appeared yet"), rule, card)
  }

  /// Returns the starts by push that a card may come from, in the order of their events.
  private func starts(of card: Card) -> [StartMemo] {
    startIDs(of: card).compactMap { decision.view.memo.starts[$0] }
      .sorted { $0.entry.event.id < $1.entry.event.id }
  }

  /// Returns the same starts by `StartToken.id`.
  func startIDs(of card: Card) -> [Int64] {
    if card.target.isPhone { return [] }
    return decision.view.memo.starts.filter { _, start in
      start.entry.app == card.app && start.owner == card.ownerID
        && (start.installationID ?? card.installationID)
          == (card.installationID ?? start.installationID)
    }.keys.sorted()
  }

  mutating func scheduleCards(at due: Timestamp?) {
    guard let due else { return }
    decision.nextCard = min(decision.nextCard ?? due, due)
  }

  /// Closes alerts that were replaced, and drops the card's alert once it is no longer valid.
  private mutating func closeReplacedAlerts(
    _ machine: inout CardStateMachine, of rule: CardRule, _ card: Card
  ) {
    for event in machine.replacedAlerts {
      close(event, .superseded, .superseded(by: "what came after it"), rule, card)
    }
    guard let alert = machine.memo.alert, now >= alert.at + rule.validity else { return }
    machine.memo.alert = nil
  }

  /// Closes an alert that a card does not show.
  private mutating func close(
    _ alert: RideEvent, _ status: LedgerEntry.Status, _ reason: LedgerReason, _ rule: CardRule,
    _ card: Card
  ) {
    let id = PushID(of: "card-alert", card.target.rawValue, "\(alert.id)", alert.name)
    var entry = draft(rule.rule, alert, id: id)
    entry.tokenSuffix = String(card.token.suffix(6))
    entry.concern(card)
    close(entry, status, reason)
  }

  private mutating func end(
    _ machine: inout CardStateMachine, _ end: CardEnd, _ card: Card, _ rule: CardRule
  ) {
    if machine.memo.isPending {
      close(
        entry(of: card.target, machine.memo, rule, card), .superseded, .superseded(by: "the end"))
      machine.memo.failures = 0
      machine.memo.isPending = false
      machine.memo.subject = nil
    }
    machine.end(at: end.at, by: end.cause)
    if end.isAtOnce { machine.memo.isDismissed = true }
  }

  /// Returns since when, and why, a card of this ride can only end; nil if it need not end.
  private func endCondition(
    _ machine: CardStateMachine, _ card: Card, _ rule: CardRule, _ context: TemplateContext?
  ) -> CardEnd? {
    if let phone = card.phone {
      return androidEnd(phone, rule, context)
        ?? machine.expiry.map { CardEnd(at: $0.at, reason: $0.reason) }
    }
    guard let context else {
      return CardEnd(at: now, reason: LedgerReason(.rideNotFound, "the ride is gone"))
    }
    if let end = rideEnd(rule) { return end }
    let app = rule.app
    if machine.memo.hasMatchedOwner,
      !RecipientResolver.isPresent(card.ownerID, app, in: context)
    {
      return CardEnd(at: now, reason: LedgerReason(.otherOwner, "the ride has another \(app)"))
    }
    if let reason = optOut(of: card.ownerID, in: card.app, from: rule.rule) {
      return CardEnd(at: now, reason: reason, isAtOnce: true)
    }
    return machine.expiry.map { CardEnd(at: $0.at, reason: $0.reason) }
  }

  /// Returns since when the ride is over for the cards of a rule; nil if it is not, or if an event of
  /// `start` came after the end.
  func rideEnd(_ rule: CardRule) -> CardEnd? {
    if let state = decision.view.ride?.state,
      configuration.rules.finalStates.contains(state) || rule.life.end.contains(state)
    {
      return CardEnd(at: newEvents.last { $0.name == state }?.at ?? now, cause: state)
    }
    guard let index = newEvents.lastIndex(where: { rule.life.end.contains($0.name) }),
      !newEvents[index...].dropFirst().contains(where: { rule.life.start.contains($0.name) })
    else { return nil }
    return CardEnd(at: newEvents[index].at, cause: newEvents[index].name)
  }

  mutating func complain(
    _ machine: inout CardStateMachine, _ status: LedgerEntry.Status, _ reason: LedgerReason,
    _ rule: CardRule,
    _ card: Card
  ) {
    if machine.memo.complaint == reason.text { return }
    machine.memo.complaint = reason.text
    close(entry(of: card.target, machine.memo, rule, card), status, reason)
    machine.memo.number = machine.memo.number.addingSaturating(1)
    machine.memo.isPending = false
    machine.memo.subject = nil
  }

  /// Returns the ledger entry of the next push to a card.
  func entry(
    of target: CardTarget, _ memo: CardMemo, _ rule: CardRule, _ card: Card? = nil,
    _ update: CardStateMachine.CardUpdate? = nil
  ) -> LedgerEntry {
    let cause = update?.cause ?? memo.cause ?? RideEvent.refresh(at: now)
    let event = update?.event ?? (memo.endsAt == nil ? .update : .end)
    // The card of an Android phone may end several times.
    let end = target.isPhone ? "end \(memo.number)" : "end"
    let ordinal = event == .end ? end : "\(memo.number)"
    let id = PushID(of: "card", decision.view.rideID.text, rule.name, target.rawValue, ordinal)
    var entry = draft(rule.rule, memo.subject ?? cause, id: id)
    entry.card = target
    entry.concern(card)
    if case .phone(let id) = target { entry.phone = id }
    entry.cardEvent = event
    entry.attempts = memo.failures
    entry.tokenSuffix = card.map { String($0.token.suffix(6)) }
    return entry
  }
}

extension LedgerEntry {
  /// Records whose card it is about; the card of a channel is everyone's.
  fileprivate mutating func concern(_ card: Card?) {
    switch card?.target {
    case .activity: owner = card?.ownerID
    case .phone(let id): (owner, phone) = (card?.ownerID, id)
    case .channel, nil: break
    }
  }
}
