// What a card's message to an Android phone shows, within FCM's limit.

import Base

extension Decider {
  /// Returns the message with its row of the ledger.
  ///
  /// An end that is too large leaves out its parts one after another: a card whose end never leaves
  /// would stay. Without any content it is removed at once.
  ///
  /// - Throws: `MESSAGE_TOO_LARGE` for a start or an update.
  mutating func fill(
    _ draft: AndroidCardDraft, _ machine: inout CardStateMachine, _ card: Card,
    to registration: FCMRegistration
  ) throws(Planner.Problem) -> AndroidCardMessage {
    let alert = machine.memo.alert
    var (omitted, tooLarge) = ([AndroidCardPart](), LedgerReason?.none)
    while true {
      let content = try content(of: draft, alert, without: omitted)
      machine.memo.alert = content.alert
      let entry = entry(of: card.target, machine.memo, draft.rule, card, draft.update)
      let body = content.message.encoded.body(id: entry.id, to: registration)
      guard let problem = AndroidSize.problem(of: body) else {
        return AndroidCardMessage(
          entry: entry, body: body, alert: content.alert, broken: content.broken,
          omission: tooLarge.map { .ended(without: omitted, because: $0) })
      }
      tooLarge = tooLarge ?? problem
      let rest = AndroidCardPart.allCases.dropFirst(omitted.count)
      guard draft.isEnd, let next = rest.first else {
        throw Planner.Problem(status: .rejected, reason: problem)
      }
      omitted.append(next)
    }
  }

  private mutating func content(
    of draft: AndroidCardDraft, _ alert: RideEvent?, without omitted: [AndroidCardPart]
  ) throws(Planner.Problem) -> AndroidCardContent {
    var content = AndroidCardContent(message: draft.message, broken: draft.rendered.broken)
    var goneAt = draft.goneAt
    // A former owner's card is removed: what the ride is now is no concern of theirs.
    if isPresent(draft.phone) {
      try add(draft, to: &content, without: omitted)
      if let alert, !omitted.contains(.alert) { add(alert, to: &content, draft) }
      if omitted.contains(.look), content.alert == nil { goneAt = now }
    }
    if let goneAt { content.message.set("rp_gone_at", text: "\(goneAt.epochSeconds)") }
    return content
  }

  /// Returns the context of an event, made once for all phones; nil if the ride does not exist.
  mutating func androidContext(_ event: RideEvent) -> TemplateContext? {
    if let known = androidContexts.first(where: { $0.event == event }) { return known }
    guard let context = context(event) else { return nil }
    androidContexts.append(context)
    return context
  }

  private mutating func androidContext(_ event: RideEvent, for phone: Phone) -> TemplateContext? {
    androidContext(event)?.addressed(to: phone.ownerID, in: phone.app)
  }

  private mutating func isPresent(_ phone: Phone) -> Bool {
    guard let context = androidContext(RideEvent.refresh(at: now)) else { return false }
    return RecipientResolver.isPresent(phone.ownerID, phone.app, in: context)
  }

  /// Adds the content, the rule's own keys and, because a start may be lost, the attributes to each
  /// message that shows the card.
  private mutating func add(
    _ draft: AndroidCardDraft, to content: inout AndroidCardContent,
    without omitted: [AndroidCardPart]
  ) throws(Planner.Problem) {
    if let state = draft.rendered.state, !omitted.contains(.state) {
      content.message.set("rp_state", json: state)
    }
    if let look = draft.rendered.look, !omitted.contains(.look) {
      content.message.set("rp_look", json: look)
    }
    if !draft.isEnd {
      do throws(RenderingError) {
        try addAttributes(to: &content, draft)
      } catch {
        throw Planner.Problem(status: .suppressed, reason: error.ledgerReason)
      }
    }
    if !omitted.contains(.data) { try addData(to: &content, draft) }
  }

  /// Adds the rule's own keys; an end leaves without those that can't be sent.
  private mutating func addData(
    to content: inout AndroidCardContent, _ draft: AndroidCardDraft
  ) throws(Planner.Problem) {
    let phone = draft.phone
    guard let context = androidContext(draft.update.cause, for: phone) else { return }
    var data: [(key: String, json: [UInt8])] = []
    do throws(RenderingError) {
      data = try draft.rule.compiled.customData(in: context.on(phone.texts), phone.locale)
    } catch {
      guard draft.isEnd else {
        throw Planner.Problem(status: .suppressed, reason: error.ledgerReason)
      }
      content.broken.append(error)
    }
    for (key, json) in data {
      if AndroidData.isReserved(key) {
        if draft.isEnd { continue }
        throw Planner.Problem(status: .suppressed, reason: .reserved(key))
      }
      content.message.set(key, json: json)
    }
  }

  /// Adds the attributes, by the event with which the card began: a phone that registers later gets
  /// what the others got.
  private mutating func addAttributes(
    to content: inout AndroidCardContent, _ draft: AndroidCardDraft
  ) throws(RenderingError) {
    let (rule, phone, update) = (draft.rule, draft.phone, draft.update)
    let start = decision.settlement.memo.runs[rule.app.rawValue]?.event ?? update.cause
    guard let context = androidContext(start, for: phone) else { return }
    do throws(RenderingError) {
      let attributes = try rule.compiled.attributes.render(
        in: context.on(phone.texts), locale: phone.locale, broken: &content.broken)
      content.message.set("rp_attributes", json: attributes)
    } catch {
      if update.event == .start { throw error }
      // The ride lacks by now what the start had: the new state must reach the phone.
      content.broken.append(error)
    }
  }

  /// Adds an event's alert, unless it can't be rendered.
  private mutating func add(
    _ event: RideEvent, to content: inout AndroidCardContent, _ draft: AndroidCardDraft
  ) {
    let phone = draft.phone
    guard let alert = draft.rule.compiled.alerts[event.name],
      let context = androidContext(event, for: phone),
      let json = try? alert.render(in: context.on(phone.texts), locale: phone.locale),
      let texts = JSONValue(json: json)
    else { return }
    content.message.set("rp_alert", text: "1")
    for part in ["title", "body"] {
      if let text = texts.value(at: [part])?.text {
        content.message.set("rp_\(part)", text: text)
      }
      if let key = texts.value(at: [part, "loc-key"])?.text {
        content.message.set("rp_\(part)_key", text: key)
      }
      if let arguments = texts.value(at: [part, "loc-args"]) {
        content.message.set("rp_\(part)_args", json: arguments.json)
      }
    }
    content.alert = event
  }
}

extension LedgerReason {
  fileprivate static func ended(
    without parts: [AndroidCardPart], because problem: LedgerReason
  ) -> LedgerReason {
    let names = parts.map(\.rawValue).joined(separator: ", ")
    return LedgerReason(
      .cardFieldDropped, "ended without \(names): \(problem.text)".brief(bytes: 300))
  }
}
