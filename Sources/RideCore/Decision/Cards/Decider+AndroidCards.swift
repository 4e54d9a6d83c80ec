// The cards of Android phones. A start needs no journal there: the app shows one notification for a
// ride, which a repeated start replaces.

import Base
extension Decider {
  /// Begins what runs of a rule's cards on Android phones, at an event of `start`.
  mutating func beginRun(of rule: CardRule, on event: RideEvent) {
    let known = decision.settlement.memo.runs[rule.app.rawValue]
    // A start that waited for the end of an iPhone's card has begun here already.
    if let known, known.event.id == event.id, known.event.at == event.at { return }
    guard hasAndroid || configuration.androidApps.contains(rule.app), decision.view.ride != nil,
      rideEnd(rule) == nil
    else { return }
    var event = event
    event.people = nil
    // By the clock, because the memo of a ride that left the agenda is gone.
    let number = max(Int(event.at.epochSeconds), (known?.number ?? 0).addingSaturating(1))
    decision.settlement.memo.runs[rule.app.rawValue] = CardRun(event: event, number: number)
  }

  /// Updates the cards of the phones that this decision addresses, and keeps those of all others.
  mutating func updateAndroidCards() {
    let isKept = decision.view.memo.cards.contains { $0.key.isPhone }
    if !hasAndroid && !isKept && decision.settlement.memo.runs.isEmpty { return }
    for rule in configuration.rules.cards where rule.life.broadcast == nil {
      endRun(of: rule)
      let refreshContext = context(RideEvent.refresh(at: now))
      for phone in phones where phone.platform == .android && phone.app == rule.app {
        guard let memo = cardMemo(of: phone, rule, refreshContext) else { continue }
        let content = androidContent(of: rule, for: phone)
        update(Card(phone, at: now), memo, of: rule, content, refreshContext)
      }
    }
    if isKept { keepAndroidCards() }
  }

  /// Records the end of what runs, which later parts of a pass can't read in its events.
  private mutating func endRun(of rule: CardRule) {
    guard let run = decision.settlement.memo.runs[rule.app.rawValue], !run.isOver,
      let end = rideEnd(rule)
    else { return }
    // An end that was committed late is about the card before.
    if end.at < run.event.at, end.cause != decision.view.ride?.state { return }
    decision.settlement.memo.runs[rule.app.rawValue]?.endsAt = end.at
    decision.settlement.memo.runs[rule.app.rawValue]?.endedBy = end.cause
  }

  /// Returns the memo of the card that a phone shows, may show or is to show; nil if it has none.
  private mutating func cardMemo(
    of phone: Phone, _ rule: CardRule, _ context: TemplateContext?
  ) -> CardMemo? {
    var known = decision.view.memo.cards[.phone(phone.id)]
    let run = decision.settlement.memo.runs[rule.app.rawValue]
    if isDismissed(phone) { return nil }
    if known == nil, let run, phone.hasAlertsOff { recordAlertsOff(phone, rule, run) }
    if known?.isLive == true {
      if let run, !run.isOver { known?.android?.run = run.number }
      return known
    }
    let isOfRun = known != nil && known?.android?.run == run?.number
    if let run, !run.isOver, !isOfRun, mayStart(phone, rule, run, context) {
      return started(phone, rule, run, after: known)
    }
    if let known, known.android?.isOver == false { return known }
    if mayHaveStarted(rule, isOfRun: isOfRun), androidEnd(phone, rule, context) != nil,
      concerns(phone, context)
    {
      return started(phone, rule, run, after: known)
    }
    return nil
  }

  /// Records, at the start of what runs, that a phone shows no notifications.
  private mutating func recordAlertsOff(_ phone: Phone, _ rule: CardRule, _ run: CardRun) {
    guard events.contains(where: { $0.id == run.event.id && $0.at == run.event.at }) else { return }
    var entry = draft(rule.rule, run.event)
    entry.id = pushID(rule.rule, run.event, phone.token, rule.app)
    (entry.phone, entry.owner, entry.cardEvent) = (phone.id, phone.ownerID, .start)
    entry.tokenSuffix = String(phone.token.suffix(6))
    close(entry, .suppressed, .alertsOff)
  }

  /// Returns whether a phone without a card is to show the one that runs.
  private mutating func mayStart(
    _ phone: Phone, _ rule: CardRule, _ run: CardRun, _ context: TemplateContext?
  ) -> Bool {
    if androidEnd(phone, rule, context) != nil || run.excluded.contains(phone.ownerID) {
      return false
    }
    if let opening = (try? opening(of: rule)) ?? nil, opening > now {
      scheduleCards(at: opening)
      return false
    }
    // The ledger has a row of the person whom `if` excludes, from the event of `start`.
    if rule.rule.conditionScope == .person,
      startCondition(rule, run.event, of: phone.ownerID) != nil
    {
      decision.settlement.memo.runs[rule.app.rawValue]?.excluded.append(phone.ownerID)
      return false
    }
    return true
  }

  /// Returns the memo of a card that is started, whose pushes follow those of the card before.
  private mutating func started(
    _ phone: Phone, _ rule: CardRule, _ run: CardRun?, after known: CardMemo?
  ) -> CardMemo {
    let card = Card(phone, at: now)
    var memo = CardMemo(of: card, now: now)
    memo.android = AndroidCardMemo(
      app: rule.app, run: run?.number ?? known?.android?.run ?? 0)
    memo.isUrgent = true
    memo.cause = run?.event
    // Each push has an ID of its own, also after the ride left the agenda.
    memo.number = memo.android?.run ?? 0
    guard let known else { return memo }
    if known.isPending {
      close(
        entry(of: card.target, known, rule, card), .superseded, .superseded(by: "the next start"))
    }
    memo.timestamp = known.timestamp
    memo.number = known.number.addingSaturating(1)
    memo.urgentAt = known.urgentAt
    return memo
  }

  /// Returns whether the ride's previous holder may have started a card of which nothing is recorded:
  /// if it can only end by now, its end must be sent.
  private func mayHaveStarted(_ rule: CardRule, isOfRun: Bool) -> Bool {
    guard decision.view.mayHaveBeenSent else { return false }
    return decision.view.memo.awaitedStarts[rule.name] != nil
      || events.contains { rule.life.start.contains($0.name) }
      || decision.view.memo.runs[rule.app.rawValue] != nil && !isOfRun
  }

  /// Returns whether the ride names a phone's owner, or named them before its events.
  private func concerns(_ phone: Phone, _ context: TemplateContext?) -> Bool {
    if let context, RecipientResolver.isPresent(phone.ownerID, phone.app, in: context) {
      return true
    }
    return events.contains { event in
      event.people?.former.flatMap { RecipientResolver.owner(phone.app, $0) } == phone.ownerID
    }
  }

  /// Returns since when, and why, a phone's card can only end, apart from its own time; nil if it need
  /// not end.
  func androidEnd(_ phone: Phone, _ rule: CardRule, _ context: TemplateContext?) -> CardEnd? {
    guard let context else {
      return CardEnd(
        at: now, reason: LedgerReason(.rideNotFound, "the ride is gone"), isAtOnce: true)
    }
    let run = decision.settlement.memo.runs[rule.app.rawValue]
    if let run, let endsAt = run.endsAt { return CardEnd(at: endsAt, cause: run.endedBy) }
    if run == nil, let end = rideEnd(rule) { return end }
    if !RecipientResolver.isPresent(phone.ownerID, phone.app, in: context) {
      return CardEnd(
        at: now, reason: LedgerReason(.otherOwner, "the ride has another \(phone.app)"),
        isAtOnce: true)
    }
    let reason =
      phone.hasAlertsOff
      ? LedgerReason.alertsOff : optOut(of: phone.ownerID, in: phone.app, from: rule.rule)
    return reason.map { CardEnd(at: now, reason: $0, isAtOnce: true) }
  }

  /// Returns whether the card was dismissed on this phone, now or before its token changed: then it is
  /// not shown again.
  private func isDismissed(_ phone: Phone) -> Bool {
    decision.view.cards.contains { card in
      guard card.target.isPhone, card.isGone, card.app == phone.app,
        card.ownerID == phone.ownerID
      else { return false }
      return card.target == .phone(phone.id)
        || card.installationID != nil && card.installationID == phone.installationID
    }
  }
}

// Cards whose phones this decision does not address.
extension Decider {
  /// Keeps the memos of cards that were not updated: of phones of other parts of the pass, of ended
  /// cards, and of phones that are gone, whose timestamps must rise if they register again.
  private mutating func keepAndroidCards() {
    let (addressed, read) = (Set(phones.map(\.id)), Set(decision.view.phones.map(\.id)))
    for (target, memo) in decision.view.memo.cards.sorted(by: { $0.key < $1.key }) {
      guard case .phone(let id) = target, decision.settlement.memo.cards[target] == nil else {
        continue
      }
      let rule = configuration.rules.cards.first { $0.app == memo.android?.app }
      var memo = memo
      if addressed.contains(id) {
        // The card of a phone that is addressed and shows nothing was dismissed, or has ended.
        closePending(&memo, target, rule)
        if rule != nil { memo.android?.isOver = true }
      } else if read.contains(id) || decision.view.memo.part?.covers(id) == true {
        if let rule { scheduleCards(at: due(memo, rule)) }
      } else {
        closePending(&memo, target, rule)
        (memo.shown, memo.sentAt, memo.retryAt) = (nil, nil, nil)
        memo.android?.isStarted = false
      }
      decision.settlement.memo.cards[target] = memo
    }
  }

  /// Returns when a card of another part of the pass needs attention again.
  private func due(_ memo: CardMemo, _ rule: CardRule) -> Timestamp? {
    guard memo.isLive else { return memo.android?.isOver == true ? nil : memo.retryAt }
    let machine = CardStateMachine(
      rule.life.life(in: decision.view.ride?.state), memo, now: now)
    if memo.complaint != nil { return machine.due(nil) }
    // Any other content: a change waits for others that may follow.
    return machine.due(memo.cause == nil ? memo.shown : "")
  }

  private mutating func closePending(
    _ memo: inout CardMemo, _ target: CardTarget, _ rule: CardRule?
  ) {
    guard memo.isPending, let rule = rule ?? configuration.rules.cards.first else { return }
    close(
      entry(of: target, memo, rule), .suppressed, LedgerReason(.cardGone, "the card is gone"))
    memo.number = memo.number.addingSaturating(1)
    memo.isPending = false
    memo.subject = nil
    memo.failures = 0
  }
}

extension CardMemo {
  /// Whether the card of an Android phone shows the ride, or is to.
  var isLive: Bool { android?.isOver == false && endsAt == nil }
}
