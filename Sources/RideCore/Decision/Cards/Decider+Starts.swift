// Starts by push. A start that may have left must not go again, whatever its outcome: the card
// would appear twice. So it is journalled before it is sent, and a journalled start without an
// outcome is `uncertain`. Once the card has ended, a later event starts another one.

import Base
extension Decider {
  /// Closes starts that were journalled and have no outcome.
  mutating func closeUnknownStarts() {
    decision.settlement.memo.starts = decision.view.memo.starts
    for (id, start) in decision.settlement.memo.starts.sorted(by: { $0.key < $1.key })
    where start.isOpen {
      closeUncertain(start.entry)
      decision.settlement.memo.starts[id]?.isOpen = false
    }
  }

  /// Closes a push that may have been sent, and is not sent again.
  mutating func closeUncertain(_ entry: LedgerEntry) {
    var entry = entry
    entry.attempts = entry.attempts.addingSaturating(1)
    close(
      entry, .uncertain,
      LedgerReason(.serviceEnded, "the service ended before it recorded an answer"))
  }

  mutating func start(_ rule: CardRule, on event: RideEvent, _ rendered: RenderedCard) {
    let app = rule.app
    var unaddressed = draft(rule.rule, event)
    unaddressed.cardEvent = .start
    // A card is about a ride: an event about no ride starts none.
    guard decision.view.ride != nil, let context = context(event) else {
      return close(unaddressed, .suppressed, .rideNotFound)
    }
    let people = recipients.recipients(of: app, in: context)
    guard let first = people.first else {
      return close(unaddressed, .suppressed, .noOwner(of: app))
    }
    start(rule, on: event, rendered, unaddressed, first)
    for person in people.others {
      unaddressed.id = draft(rule.rule, event, app, of: person.owner).id
      start(rule, on: event, rendered, unaddressed, person)
    }
  }

  /// Starts the cards of one person.
  private mutating func start(
    _ rule: CardRule, on event: RideEvent, _ rendered: RenderedCard, _ unaddressed: LedgerEntry,
    _ recipient: RecipientResolver.Recipient
  ) {
    let app = rule.app
    var unaddressed = unaddressed
    let owner = recipient.owner
    unaddressed.owner = owner
    if recipient.isParticipant { unaddressed.isOfParticipant = true }
    if recipient.image != nil {
      return close(unaddressed, .suppressed, .otherOwner(of: app))
    }
    if let reason = optOut(of: owner, in: app, from: rule.rule) {
      return block(unaddressed, reason)
    }
    if rule.rule.conditionScope == .person,
      let reason = startCondition(rule, event, of: owner)
    {
      return block(unaddressed, reason)
    }
    let isOwners = { (other: App, id: OwnerID) in other == app && id == owner }
    let phones = decision.view.phones.filter {
      isOwners($0.app, $0.ownerID) && $0.platform == .ios
    }
    let plan = StartPlan(
      phones: phones,
      cards: decision.view.cards.filter { isOwners($0.app, $0.ownerID) && !$0.target.isPhone },
      tokens: decision.view.startTokens.filter {
        isOwners($0.app, $0.ownerID) && $0.attributesType == rule.life.attributesType
      },
      starts: decision.settlement.memo.starts.filter {
        isOwners($0.value.entry.app, $0.value.owner)
      })
    if plan.lacksToken, hasAndroid, phones.isEmpty, count(of: PhoneOwner(app, owner)).all > 0 {
      // Their phones need no token.
      if rideEnd(rule) != nil { close(unaddressed, .suppressed, .rideOverAlready) }
      return
    }
    if plan.lacksToken {
      return close(unaddressed, .suppressed, .noStartToken(of: app))
    }
    for token in plan.tokens {
      var entry = unaddressed
      entry.id = PushID(
        of: "start", "\(event.id)", decision.view.rideID.text, rule.name, "\(token.id)")
      entry.startToken = token.id
      entry.tokenSuffix = String(token.token.suffix(6))
      planStart(entry, token, rule, rendered)
    }
  }

  /// Retries a start that provably did not happen.
  mutating func retryStart(_ entry: LedgerEntry, _ id: Int64) {
    guard let rule = configuration.rules.cards.first(where: { $0.name == entry.rule })
    else {
      return close(entry, .suppressed, .ruleGone)
    }
    guard let token = decision.view.startTokens.first(where: { $0.id == id }) else {
      return close(
        entry, .suppressed, LedgerReason(.noStartToken, "the push-to-start token is disabled"))
    }
    if let owner = entry.owner, owner != token.ownerID {
      return close(
        entry, .suppressed,
        LedgerReason(.otherOwner, "the push-to-start token belongs to another person now"))
    }
    let refreshContext = context(RideEvent.refresh(at: now))
    if entry.isOfParticipant == true, let refreshContext,
      !RecipientResolver.isPresent(token.ownerID, entry.app, in: refreshContext)
    {
      return close(entry, .suppressed, .noLongerParticipates(entry.app))
    }
    if decision.view.cards.contains(where: {
      !$0.target.isPhone && $0.app == entry.app && $0.ownerID == token.ownerID
        && ($0.installationID ?? token.installationID)
          == (token.installationID ?? $0.installationID)
    }) {
      return close(entry, .suppressed, LedgerReason(.cardThere, "the phone has a card already"))
    }
    if let reason = startCondition(rule, entry.event, of: token.ownerID) {
      // Nothing has left: once the condition holds, the card is started.
      decision.settlement.memo.starts[id] = nil
      if rule.rule.conditionScope == .event, rideEnd(rule) == nil {
        decision.settlement.memo.awaitedStarts[rule.name] = entry.event
        conditions[rule.name, default: ConditionMemo()].complaint = reason.text
      }
      return block(entry, reason)
    }
    planStart(entry, token, rule, RenderedCard(rule, in: refreshContext))
  }

  private mutating func planStart(
    _ entry: LedgerEntry, _ token: StartToken, _ rule: CardRule, _ rendered: RenderedCard
  ) {
    if rideEnd(rule) != nil {
      return close(entry, .suppressed, .rideOverAlready)
    }
    if let reason = optOut(of: token.ownerID, in: entry.app, from: rule.rule) {
      return block(entry, reason)
    }
    let rendered = content(rendered, of: rule, for: token.ownerID, token.installationID)
    if let problem = rendered.problem { return close(entry, .suppressed, problem) }
    guard let context = context(entry.event, for: token.ownerID, in: entry.app),
      let state = rendered.state
    else {
      return close(entry, .suppressed, .rideNotFound)
    }
    do {
      let push = try start(entry, token, rule, state, context, broken: rendered.broken)
      if let pause = pause(of: entry) {
        wait(push, for: pause)
      } else {
        decision.pushes.append(push)
      }
      var memo = StartMemo(
        entry: push.entry, owner: token.ownerID, shown: rendered.shown, isOpen: false)
      memo.installationID = token.installationID
      decision.settlement.memo.starts[token.id] = memo
    } catch {
      close(entry, error.status, error.reason)
    }
  }
}
