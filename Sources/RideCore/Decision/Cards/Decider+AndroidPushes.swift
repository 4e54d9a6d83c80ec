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
    try Planner.checkServiceAccount(of: rule.app, configuration)
    guard let registration = FCMRegistration(phone.token) else {
      throw Planner.Problem(
        status: .suppressed,
        reason: LedgerReason(.badToken, "the phone's token is not an FCM registration"))
    }
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
    if let staleAt { message.set("rp_stale_at", text: "\(staleAt.epochSeconds)") }
    let goneAt = isEnd ? machine.dismissalAt : machine.goneAt
    if let goneAt { message.set("rp_gone_at", text: "\(goneAt.epochSeconds)") }
    var broken = rendered.broken
    var shownAlert: RideEvent?
    // A former owner's card is removed: what the ride is now is no concern of theirs.
    if isPresent(phone) {
      try add(rendered, update, to: &message, phone, rule, &broken)
      shownAlert = machine.memo.alert.flatMap { add($0, to: &message, phone, rule) }
    }
    machine.memo.alert = shownAlert
    let entry = entry(of: card.target, machine.memo, rule, card, update)
    let body = message.encoded.body(id: entry.id, to: registration)
    if let problem = AndroidSize.problem(of: body) {
      throw Planner.Problem(status: .rejected, reason: problem)
    }
    var push = PlannedPush(
      entry: entry,
      PushRequest(
        network: .android, address: .registration(registration),
        headers: headers(entry, "", priority, expiration, collapse: card.target.rawValue),
        payload: body, validUntil: validUntil),
      step: CardStep(
        card: card.target, event: update.event, alert: shownAlert, priority: priority,
        timestamp: timestamp, settled: machine.settled(rendered.shown, staleAt: staleAt)),
      acceptedReason: .sent(
        problem ?? acceptedReason ?? zoneDoubt(rule, entry.event, phone.texts), without: broken))
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

  private mutating func isPresent(_ phone: Phone) -> Bool {
    guard let context = context(RideEvent.refresh(at: now)) else { return false }
    return RecipientResolver.isPresent(phone.ownerID, phone.app, in: context)
  }

  /// Adds the content, the rule's own keys and, because a start may be lost, the attributes to each
  /// message that shows the card.
  private mutating func add(
    _ rendered: RenderedCard, _ update: CardStateMachine.CardUpdate,
    to message: inout AndroidMessage, _ phone: Phone, _ rule: CardRule,
    _ broken: inout [RenderingError]
  ) throws(Planner.Problem) {
    if let state = rendered.state { message.set("rp_state", json: state) }
    if let look = rendered.look { message.set("rp_look", json: look) }
    var data: [(key: String, json: [UInt8])] = []
    do throws(RenderingError) {
      if update.event != .end {
        try addAttributes(to: &message, update, phone, rule, &broken)
      }
      if let context = context(update.cause, for: phone.ownerID, in: phone.app) {
        data = try rule.compiled.customData(in: context.on(phone.texts), phone.locale)
      }
    } catch {
      throw Planner.Problem(status: .suppressed, reason: error.ledgerReason)
    }
    for (key, json) in data {
      if AndroidData.isReserved(key) {
        throw Planner.Problem(status: .suppressed, reason: .reserved(key))
      }
      message.set(key, json: json)
    }
  }

  /// Adds the attributes, by the event with which the card began: a phone that registers later gets
  /// what the others got.
  private mutating func addAttributes(
    to message: inout AndroidMessage, _ update: CardStateMachine.CardUpdate, _ phone: Phone,
    _ rule: CardRule, _ broken: inout [RenderingError]
  ) throws(RenderingError) {
    let start = decision.settlement.memo.runs[rule.app.rawValue]?.event ?? update.cause
    guard let context = context(start, for: phone.ownerID, in: phone.app) else { return }
    do throws(RenderingError) {
      let attributes = try rule.compiled.attributes.render(
        in: context.on(phone.texts), locale: phone.locale, broken: &broken)
      message.set("rp_attributes", json: attributes)
    } catch {
      if update.event == .start { throw error }
      // The ride lacks by now what the start had: the new state must reach the phone.
      broken.append(error)
    }
  }

  /// Adds an event's alert; returns the event, or nil if the alert can't be rendered.
  private mutating func add(
    _ event: RideEvent, to message: inout AndroidMessage, _ phone: Phone, _ rule: CardRule
  ) -> RideEvent? {
    guard let alert = rule.compiled.alerts[event.name],
      let context = context(event, for: phone.ownerID, in: phone.app),
      let json = try? alert.render(in: context.on(phone.texts), locale: phone.locale),
      let texts = JSONValue(json: json)
    else { return nil }
    message.set("rp_alert", text: "1")
    for part in ["title", "body"] {
      if let text = texts.value(at: [part])?.text { message.set("rp_\(part)", text: text) }
      if let key = texts.value(at: [part, "loc-key"])?.text {
        message.set("rp_\(part)_key", text: key)
      }
      if let arguments = texts.value(at: [part, "loc-args"]) {
        message.set("rp_\(part)_args", json: arguments.json)
      }
    }
    return event
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
      android: rule, in: context(RideEvent.refresh(at: now), for: phone.ownerID, in: rule.app),
      for: key.texts)
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
