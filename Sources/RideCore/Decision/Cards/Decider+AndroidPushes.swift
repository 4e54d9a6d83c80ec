// Messages that start, update and end the card of an Android phone: the same content as an iPhone's,
// as the texts of a data message.

import Base

/// What the content of a card on Android phones is rendered by.
struct AndroidContentKey: Hashable {
  var rule: String
  /// Unknown if the content does not depend on them.
  var texts: PhoneTexts
  /// Nil if the content is the same for all people.
  var owner: OwnerID?
}

extension Decider {
  /// Returns the push that starts, updates or ends a card on an Android phone.
  mutating func planMessage(
    _ update: CardStateMachine.CardUpdate, _ machine: inout CardStateMachine, _ card: Card,
    on phone: Phone, _ rule: CardRule, _ rendered: RenderedCard
  ) throws(Planner.Problem) -> PlannedPush {
    let registration = try Planner.registration(of: phone, configuration)
    let isEnd = update.event == .end
    let (rendered, problem) =
      isEnd ? lastContent(rendered, of: rule, machine.memo.endedBy, card) : (rendered, nil)
    let validUntil = now + rule.validity
    let (priority, acceptedReason) = machine.priority(update, frequent: card.isFrequent)
    let expiration = expiration(of: machine, rule, validUntil, isEnd: isEnd)
    let staleAt = isEnd ? nil : machine.staleAt
    let timestamp = machine.stamp()
    var message = AndroidMessage(
      .card, isHighPriority: priority == .immediate, ttl: expiration.lifetime(from: now))
    message.setCommon(
      ts: timestamp, ride: decision.view.rideID, until: isEnd ? nil : validUntil)
    message.set("rp_card", text: "\(phone.id).\(decision.view.rideID.text)")
    message.set("rp_event", text: update.event.rawValue)
    message.set("rp_run", text: String(machine.memo.android?.run ?? 0))
    if let staleAt { message.set("rp_stale_at", text: "\(staleAt.epochSeconds)") }
    let draft = AndroidCardDraft(
      update: update, phone: phone, rule: rule, rendered: rendered, message: message,
      goneAt: isEnd ? machine.dismissalAt : machine.goneAt)
    let filled = try fill(draft, &machine, card, to: registration)
    let entry = filled.entry
    let doubt = androidContext(entry.event)?.on(phone.texts)
      .doubt(about: rule.compiled.clocks(entry.event.name))
    var push = PlannedPush(
      entry: entry,
      PushRequest(
        network: .android, address: .registration(registration),
        headers: headers(entry, "", priority, expiration, collapse: card.target.rawValue),
        payload: filled.body, validUntil: validUntil),
      step: CardStep(
        card: card.target, event: update.event, alert: filled.alert, priority: priority,
        timestamp: timestamp, settled: machine.settled(rendered.shown, staleAt: staleAt)),
      acceptedReason: .sent(
        filled.omission ?? problem ?? acceptedReason
          ?? doubt, without: filled.broken))
    push.isToRefusedPhone = (phone.problem?.refusals ?? 0) > 0
    return push
  }

  private func expiration(
    of machine: CardStateMachine, _ rule: CardRule, _ validUntil: Timestamp, isEnd: Bool
  ) -> PushExpiration {
    // A phone that is off shows the card when it is on again.
    if isEnd { return .at((machine.memo.endsAt ?? now) + LiveActivity.screenLimit) }
    return expiration(rule, validUntil)
  }

  /// Returns the content for an Android phone, rendered once for all that show the same texts.
  mutating func androidContent(of rule: CardRule, for phone: Phone) -> RenderedCard {
    let (content, look) = (rule.compiled.contentState, rule.compiled.look)
    let varies = content.variesByPhone || look?.variesByPhone == true
    let isPersonal = content.readsMe || look?.readsMe == true
    let key = AndroidContentKey(
      rule: rule.name, texts: varies ? phone.texts : .unknown,
      owner: isPersonal ? phone.ownerID : nil)
    if let known = androidContents[key] { return known }
    let rendered = RenderedCard(
      rule,
      in: androidContext(RideEvent.refresh(at: now))?.addressed(to: phone.ownerID, in: rule.app),
      for: key.texts, isAndroid: true)
    androidContents[key] = rendered
    return rendered
  }

  /// Returns whether a phone can't be reached, or must not be for a while; its card waits for that.
  mutating func isUnreachable(
    _ phone: Phone, _ machine: inout CardStateMachine, _ card: Card, _ rule: CardRule
  ) -> Bool {
    guard let problem = phone.problem else { return false }
    if problem.isQuarantined {
      complain(&machine, .suppressed, .quarantined(problem, phone.platform), rule, card)
      return true
    }
    if let quiet = problem.quiet, quiet > now {
      machine.memo.retryAt = max(machine.memo.retryAt ?? quiet, quiet)
    }
    return false
  }
}

extension CardStateMachine {
  /// When an Android phone removes the card by itself, because an end may be lost.
  fileprivate var goneAt: Timestamp {
    min(memo.lastEventAt + life.inactivityLimit, now + LiveActivity.ageLimit)
  }
}

extension PushExpiration {
  /// How long a service may store a push that is sent now.
  fileprivate func lifetime(from now: Timestamp) -> Duration {
    switch self {
    case .neverStore: .zero
    case .at(let end): max(.zero, end - now)
    }
  }
}
