extension Decider {
  /// The cards of the ride: each is told what it must know, and started where there is none.
  mutating func speakOfCards() {
    closeUnknownStarts()
    for rule in rulebook.rules.cards where concerns(rule) {
      let quiet = scope(RideEvent(id: 0, name: "refresh", at: now))
      let face = CardFace(rule, in: quiet)
      if let storage = rule.life.broadcast {
        broadcast(rule, face, quiet, storage)
        continue
      }
      for card in decision.view.cards where card.app == rule.rule.rule.app && !card.isGone {
        follow(card, of: rule, face, quiet)
      }
      if let event = news.last(where: { rule.life.start.contains($0.name) }) {
        start(rule, on: event, face)
      }
    }
    for (id, memo) in decision.view.memo.cards.sorted(by: { $0.key < $1.key })
    where memo.isPending && decision.cards[id] == nil {
      if let rule = rulebook.rules.cards.first {
        close(entry(of: id, memo, rule), .suppressed, "the card is gone")
      }
    }
  }

  /// Most rides have no card, and to see that costs little.
  private func concerns(_ rule: CardRule) -> Bool {
    let app = rule.rule.rule.app
    if rule.life.broadcast != nil, needsChannel(rule) { return true }
    return decision.view.channels.contains { $0.app == app }
      || decision.view.cards.contains { $0.app == app }
      || news.contains { rule.life.start.contains($0.name) }
  }

  mutating func follow(
    _ card: Card, of rule: CardRule, _ face: CardFace, _ quiet: Scope?
  ) {
    let isNew = decision.view.memo.cards[card.id] == nil
    var keeper = CardKeeper(rule.life, card, decision.view.memo.cards[card.id], now: now)
    keeper.hear(news, isState: rulebook.rules.isState)
    if isNew, mustHurry(card, face) { keeper.memo.isUrgent = true }
    silence(&keeper, of: rule, card)
    let over = over(keeper, card, rule, quiet)
    if let quiet, RecipientResolver.present(card.app, in: quiet) == card.ownerID {
      keeper.memo.isOwners = true
    }
    if let over, keeper.memo.endsAt == nil { end(&keeper, at: over.at, card, rule) }
    if let problem = face.problem { complain(&keeper, .suppressed, problem, rule, card) }
    defer { decision.cards[card.id] = keeper.memo }
    if keeper.isPastScreen {
      close(entry(of: card.id, keeper.memo, rule, card), .expired, "no card stays for so long")
      decision.gone.append(.ofCard(card.id, since: nil, reason: "expired"))
      return
    }
    guard let wish = keeper.wish(face.shown) else {
      let isLost = keeper.memo.endsAt != nil && keeper.memo.isRefused
      if face.shown == nil || isLost { mute.insert(card.id) }
      return look(again: keeper.due(face.shown))
    }
    do {
      var push = try plan(wish, &keeper, card, rule, face)
      push.note = over?.reason ?? push.note
      decision.pushes.append(push)
    } catch {
      // What can't be sent is said once, and tried again when something has changed.
      mute.insert(card.id)
      complain(&keeper, error.status, error.reason, rule, card)
      look(again: keeper.due(nil))
    }
  }

  /// What a started card could not be told while it had no update token has waited long enough.
  private func mustHurry(_ card: Card, _ face: CardFace) -> Bool {
    decision.view.memo.starts.values.contains {
      $0.entry.app == card.app && $0.owner == card.ownerID && $0.shown != face.shown
    }
  }

  mutating func look(again due: Instant?) {
    guard let due else { return }
    decision.nextCard = min(decision.nextCard ?? due, due)
  }

  /// Alerts that were not said, and will not be.
  private mutating func silence(_ keeper: inout CardKeeper, of rule: CardRule, _ card: Card) {
    for event in keeper.silenced {
      var entry = draft(rule.rule, event)
      entry.id = PushID(of: "card-alert", "\(card.id)", "\(event.id)", event.name)
      entry.tokenSuffix = String(card.token.suffix(6))
      close(entry, .superseded, "superseded by what came after it")
    }
    guard let alert = keeper.memo.alert, now >= alert.at + rule.rule.rule.truth else { return }
    keeper.memo.alert = nil
  }

  private mutating func end(
    _ keeper: inout CardKeeper, at instant: Instant, _ card: Card, _ rule: CardRule
  ) {
    if keeper.memo.isPending {
      close(entry(of: card.id, keeper.memo, rule, card), .superseded, "superseded by the end")
      keeper.memo.failures = 0
      keeper.memo.isPending = false
      keeper.memo.told = nil
    }
    keeper.end(at: instant)
  }

  /// Since when, and why, a card of this ride can only end; the reason is nil where the ride is
  /// over.
  private func over(
    _ keeper: CardKeeper, _ card: Card, _ rule: CardRule, _ scope: Scope?
  ) -> (at: Instant, reason: String?)? {
    guard let scope else { return (now, "the ride is gone") }
    if let at = isOver(rule) { return (at, nil) }
    let app = rule.rule.rule.app
    if keeper.memo.isOwners, RecipientResolver.present(app, in: scope) != card.ownerID {
      return (now, "the ride has another \(app)")
    }
    return keeper.farewell.map { ($0.at, $0.reason) }
  }

  /// Since when the ride is over for the cards of a rule.
  func isOver(_ rule: CardRule) -> Instant? {
    if let state = decision.view.ride?.state,
      rulebook.rules.finalStates.contains(state) || rule.life.end.contains(state)
    {
      return news.last { $0.name == state }?.at ?? now
    }
    return news.last { rule.life.end.contains($0.name) }?.at
  }

  mutating func complain(
    _ keeper: inout CardKeeper, _ status: LedgerEntry.Status, _ reason: String, _ rule: CardRule,
    _ card: Card
  ) {
    if keeper.memo.complaint == reason { return }
    keeper.memo.complaint = reason
    close(entry(of: card.id, keeper.memo, rule, card), status, reason)
    keeper.memo.number = keeper.memo.number.addingSaturating(1)
    keeper.memo.isPending = false
    keeper.memo.told = nil
  }

  /// What the ledger says of the next push to a card.
  func entry(
    of id: Int64, _ memo: CardMemo, _ rule: CardRule, _ card: Card? = nil,
    _ wish: CardKeeper.Wish? = nil
  ) -> LedgerEntry {
    let cause = wish?.cause ?? memo.cause ?? RideEvent(id: 0, name: "refresh", at: now)
    var entry = draft(rule.rule, memo.told ?? cause)
    let event = wish?.event ?? (memo.endsAt == nil ? .update : .end)
    let place = event == .end ? "end" : "\(memo.number)"
    entry.id = PushID(
      of: "card", decision.view.rideID.text, rule.rule.rule.name, "\(id)", place)
    entry.card = id
    entry.cardEvent = event
    entry.attempts = memo.failures
    entry.tokenSuffix = card.map { String($0.token.suffix(6)) }
    return entry
  }

  /// Whether a card of this owner says an event aloud, now or as soon as it can be reached.
  ///
  /// One that can't, for a reason of its own, leaves it to the alert, and does not say it later.
  mutating func isTold(_ event: RideEvent, to owner: OwnerID, by app: App) -> Bool {
    var isTold = false
    for card in decision.view.cards where card.app == app && card.ownerID == owner {
      guard let memo = decision.cards[card.id], memo.alert == event else {
        continue
      }
      if mute.contains(card.id) {
        decision.cards[card.id]?.alert = nil
      } else {
        isTold = true
      }
    }
    return isTold
  }
}
