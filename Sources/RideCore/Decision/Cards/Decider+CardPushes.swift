// Pushes of type `liveactivity`, in the form that Apple documents.

import Base
extension Decider {
  /// Returns the push that updates or ends a card.
  mutating func plan(
    _ update: CardStateMachine.CardUpdate, _ machine: inout CardStateMachine, _ card: Card,
    _ rule: CardRule,
    _ rendered: RenderedCard
  ) throws(Planner.Problem) -> PlannedPush {
    if let phone = card.phone {
      return try planMessage(update, &machine, card, on: phone, rule, rendered)
    }
    let (topic, address) = try address(card.token, rule)
    let isEnd = update.event == .end
    let (rendered, problem) =
      isEnd ? lastContent(rendered, of: rule, machine.memo.endedBy, card) : (rendered, nil)
    let validUntil = now + rule.validity
    let (priority, acceptedReason) = machine.priority(update, frequent: card.isFrequent)
    let staleAt = isEnd ? nil : machine.staleAt
    let timestamp = machine.stamp()
    var aps = rule.life.members(
      update.event, timestamp: timestamp, staleAt: staleAt,
      dismissalAt: isEnd ? machine.dismissalAt : nil,
      score: rule.life.score(of: machine.memo.scoredBy))
    if let state = rendered.state { aps.append(("content-state", state)) }
    var shownAlert: RideEvent?
    if let alert = machine.memo.alert, let json = self.rendered(alert, rule, on: card) {
      aps.append(("alert", json))
      shownAlert = alert
    }
    machine.memo.alert = shownAlert
    let texts = texts(of: card.ownerID, card.installationID, rule)
    let payload = try payload(
      aps, rule, about: update.cause, card.ownerID,
      rule.compiled.dataVariesByPhone ? texts : .unknown)
    let entry = entry(of: card.target, machine.memo, rule, card, update)
    let expiration: PushExpiration =
      switch card.storage {
      // A phone that is off may show the card for as long as a card can be on the screen.
      case nil where isEnd: .at(machine.memo.since + LiveActivity.screenLimit)
      case nil: expiration(rule, validUntil)
      case .nothing: .neverStore
      case .latest:
        .at(isEnd ? now + ChannelStorage.longest : min(validUntil, now + ChannelStorage.longest))
      }
    let headers = headers(entry, topic, priority, expiration, collapse: card.target.rawValue)
    return PlannedPush(
      entry: entry,
      PushRequest(
        network: PushNetwork(card.environment ?? configuration.defaultEnvironment),
        address: address,
        headers: headers, payload: payload, validUntil: validUntil),
      step: CardStep(
        card: card.target, event: update.event, alert: shownAlert, priority: priority,
        timestamp: timestamp, endedStarts: isEnd ? startIDs(of: card) : [],
        settled: machine.settled(
          machine.fingerprint(of: rendered.shown), staleAt: staleAt)),
      acceptedReason: .sent(
        problem ?? acceptedReason ?? zoneDoubt(rule, entry.event, texts), without: rendered.broken))
  }

  /// Returns what an ended card shows: the content, with the fields that `end` changes for the cause.
  ///
  /// If they can't be rendered, the card ends as it is, with the reason: an end must leave.
  mutating func lastContent(
    _ rendered: RenderedCard, of rule: CardRule, _ cause: String?, _ card: Card
  ) -> (RenderedCard, LedgerReason?) {
    guard let cause, let content = rule.compiled.endContents[cause] else { return (rendered, nil) }
    let context = context(RideEvent.refresh(at: now), for: card.ownerID, in: rule.app)
    let texts = card.phone?.texts ?? texts(of: card.ownerID, card.installationID, rule)
    let last = RenderedCard(
      rule, content, in: context, for: texts, isAndroid: card.phone != nil)
    if last.state != nil { return (last, nil) }
    let reason = last.problem.map { "ended with its content as it was: \($0.text)" }
    return (rendered, reason.map { LedgerReason(.cardFieldDropped, $0.brief(bytes: 300)) })
  }

  /// Returns the ledger's reason of a push whose times are in other zones than they were to be.
  mutating func zoneDoubt(
    _ rule: CardRule, _ event: RideEvent, _ texts: PhoneTexts
  ) -> LedgerReason? {
    let clocks = rule.compiled.clocks(event.name)
    return clocks.isEmpty ? nil : context(event)?.on(texts).doubt(about: clocks)
  }

  /// Returns the push that starts a card.
  mutating func start(
    _ entry: LedgerEntry, _ start: StartToken, _ rule: CardRule, _ state: [UInt8],
    _ context: TemplateContext, broken: [RenderingError]
  ) throws(Planner.Problem) -> PlannedPush {
    let validUntil = entry.event.at + rule.validity
    try Planner.check(validUntil, at: now)
    let (topic, address) = try address(start.token, rule)
    let life = rule.life
    var aps = life.members(
      .start, timestamp: now.epochSeconds,
      staleAt: life.life(in: context.ride.state).stale(from: now),
      score: life.score(of: entry.event.name, context.ride.state))
    aps.append(("content-state", state))
    aps.append(("attributes-type", JSONValue.string(life.attributesType).json))
    let texts = texts(of: start.ownerID, start.installationID, rule)
    let context = context.on(texts)
    var broken = broken
    do throws(RenderingError) {
      let attributes = try rule.compiled.attributes.render(
        in: context, locale: texts.locale, broken: &broken)
      aps.append(("attributes", attributes))
      if let channel = life.pushChannel {
        aps.append(("input-push-channel", JSONValue.string(try context.text(of: channel)).json))
      }
      if let alert = rule.compiled.alerts[entry.event.name] {
        aps.append(("alert", try alert.render(in: context, locale: texts.locale)))
      }
    } catch {
      throw Planner.Problem(status: .suppressed, reason: error.ledgerReason)
    }
    if life.wantsPushToken { aps.append(("input-push-token", Array("1".utf8))) }
    let payload = try payload(aps, rule, about: entry.event, start.ownerID, texts)
    let headers = headers(
      entry, topic, .immediate, expiration(rule, validUntil), collapse: "start \(start.id)")
    return PlannedPush(
      entry: entry,
      PushRequest(
        network: PushNetwork(start.environment ?? configuration.defaultEnvironment),
        address: address,
        headers: headers, payload: payload, validUntil: validUntil),
      acceptedReason: .sent(zoneDoubt(rule, entry.event, texts), without: broken))
  }

  private func address(
    _ token: String, _ rule: CardRule
  ) throws(Planner.Problem) -> (topic: String, address: PushAddress) {
    let topic = try Planner.topic(of: rule.app, .liveactivity, configuration)
    if rule.life.broadcast != nil {
      return (topic, .channel(try channel(token, of: rule.app)))
    }
    guard let token = DeviceToken(token) else {
      throw Planner.Problem(
        status: .suppressed, reason: LedgerReason(.badToken, "the card's token is not hexadecimal"))
    }
    return (topic, .device(token))
  }

  func channel(
    _ id: String, of app: App
  ) throws(Planner.Problem) -> BroadcastChannel {
    guard let bundleID = configuration.bundleIDs[app], let id = ChannelID(id),
      let channel = BroadcastChannel(
        id: id,
        scope: ChannelScope(bundleID: bundleID, environment: configuration.defaultEnvironment))
    else {
      throw Planner.Problem(
        status: .suppressed,
        reason: LedgerReason(.noBundleID, "the bundle ID of \(app) is not valid in a path"))
    }
    return channel
  }

  private mutating func payload(
    _ aps: [(key: String, json: [UInt8])], _ rule: CardRule, about event: RideEvent,
    _ owner: OwnerID, _ texts: PhoneTexts
  ) throws(Planner.Problem) -> [UInt8] {
    let payload: [UInt8]
    do throws(RenderingError) {
      payload = try rule.compiled.payload(
        aps, in: context(event, for: owner, in: rule.app), for: texts)
    } catch {
      throw Planner.Problem(status: .suppressed, reason: error.ledgerReason)
    }
    try Planner.check(payload, atMost: rule.life.payloadLimit)
    return payload
  }

  func headers(
    _ entry: LedgerEntry, _ topic: String, _ priority: PushPriority, _ expiration: PushExpiration,
    collapse: String
  ) -> PushHeaders {
    // A card's pushes collapse: APNs keeps only the latest for a phone that is offline.
    let collapse = PushID(of: "collapse", decision.view.rideID.text, entry.rule, collapse)
    return PushHeaders(
      id: entry.id, topic: topic, pushType: .liveactivity, priority: priority,
      expiration: expiration, collapseID: CollapseID(collapse.description))
  }

  func expiration(_ rule: CardRule, _ validUntil: Timestamp) -> PushExpiration {
    rule.rule.expires.isStored ? .at(validUntil) : .neverStore
  }

  /// Returns an event's alert in the language of the owner's phone; nil if it can't be rendered.
  private mutating func rendered(_ event: RideEvent, _ rule: CardRule, on card: Card) -> [UInt8]? {
    guard let alert = rule.compiled.alerts[event.name],
      let context = context(event, for: card.ownerID, in: rule.app)
    else { return nil }
    let texts = texts(of: card.ownerID, card.installationID, rule)
    return try? alert.render(in: context.on(texts), locale: texts.locale)
  }

  /// Returns the content for one phone: the one for all, unless it has texts in several languages or
  /// of one person, or times of the phone's clock.
  mutating func content(
    _ shared: RenderedCard, of rule: CardRule, for owner: OwnerID, _ installation: InstallationID?
  ) -> RenderedCard {
    let content = rule.compiled.contentState
    // Attributes count towards the limit of the content.
    guard content.variesByPhone || content.readsMe || rule.compiled.attributes.readsMe else {
      return shared
    }
    return RenderedCard(
      rule, in: context(RideEvent.refresh(at: now), for: owner, in: rule.app),
      for: texts(of: owner, installation, rule))
  }

  /// Returns the locale and the zone of the phone that shows the card, because a card's row names
  /// none: the phone of its installation, otherwise the owner's only one; nil where the owner's
  /// phones differ.
  private func texts(
    of owner: OwnerID, _ installation: InstallationID?, _ rule: CardRule
  ) -> PhoneTexts {
    let phones = decision.view.phones.filter {
      $0.platform == .ios && $0.app == rule.app && $0.ownerID == owner
    }
    if let installation, let phone = phones.last(where: { $0.installationID == installation }) {
      return phone.texts
    }
    func common(_ value: (Phone) -> String?) -> String? {
      let first = phones.first.flatMap(value)
      return phones.allSatisfy { value($0) == first } ? first : nil
    }
    return PhoneTexts(locale: common(\.locale), timeZone: common(\.timeZone))
  }
}

extension LedgerReason {
  /// Returns the reason of an accepted push, with the optional fields that it sends as null because
  /// their values are broken: the warning is where a person looks for the push.
  static func sent(
    _ reason: LedgerReason?, without broken: [RenderingError]
  ) -> LedgerReason? {
    if broken.isEmpty { return reason }
    let texts = (reason.map { [$0.text] } ?? []) + broken.map { "sent as null: \($0.reason)" }
    return LedgerReason(.cardFieldDropped, texts.joined(separator: "; ").brief(bytes: 300))
  }
}
