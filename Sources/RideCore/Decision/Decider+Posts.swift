// Posts: a rule fires once for each person, with or without a phone.

import Base

extension Decider {
  /// Fires a rule with `post` for one person.
  ///
  /// It needs no phone, so the first part of a pass decides it.
  mutating func firePost(
    _ firing: Firing, _ planner: inout Planner, _ app: App,
    _ person: RecipientResolver.Recipient
  ) {
    if !isFirstPart { return }
    var entry = draft(firing.rule, firing.context.event, app, of: person.owner)
    if let newer = replacement(of: firing.context.event, for: person.owner, in: app) {
      return closeReplaced(entry, person.owner, by: newer)
    }
    entry.owner = person.owner
    if person.isParticipant { entry.isOfParticipant = true }
    if let waitsUntil = firing.waitsUntil {
      return wait(entry, .until(waitsUntil), .waiting(until: waitsUntil), image: person.image)
    }
    if firing.isDecided, !isAdmitted(firing.rule, firing.context, entry, at: .person) { return }
    if let reason = firing.leftStates ?? optOut(of: person.owner, in: app, from: firing.rule) {
      return block(entry, reason)
    }
    planPost(&planner, entry, to: person.owner)
  }

  /// Plans a post to a person, unless the rule's quiet hours or a permit keep it.
  mutating func planPost(_ planner: inout Planner, _ entry: LedgerEntry, to owner: OwnerID) {
    do {
      let texts = texts(of: owner, in: entry.app)
      let post = try planner.post(entry, to: owner, texts)
      if keepQuiet(post, entry, planner, texts) { return }
      send(post, entry, by: planner.rule)
    } catch {
      close(entry, error.status, error.reason)
    }
  }

  /// Returns the locale and the zone of a person's newest phone, by default `defaults.locale`.
  private func texts(of owner: OwnerID, in app: App) -> PhoneTexts {
    let newest = decision.view.phones.lazy
      .filter { $0.app == app && $0.ownerID == owner }
      .max { $0.id < $1.id }
    var texts = newest?.texts ?? .unknown
    texts.locale = texts.locale ?? configuration.rules.defaults.locale
    return texts
  }
}

extension Planner {
  /// Returns the post of this rule to one person.
  mutating func post(
    _ entry: LedgerEntry, to owner: OwnerID, _ texts: PhoneTexts
  ) throws(Problem) -> PlannedPush {
    let receiver = entry.receiver ?? ""
    let validUntil = entry.event.firing + rule.validity
    try Self.check(validUntil, at: now)
    if let variable = configuration.receivers.missing(receiver) {
      throw Problem(
        status: .suppressed,
        reason: LedgerReason(.noReceiver, "no receiver \(receiver): set \(variable)"))
    }
    let body = try body(entry, owner, texts)
    let headers = PushHeaders(
      id: entry.id, topic: "", pushType: entry.pushType, priority: rule.priority,
      expiration: .at(validUntil))
    var post = PlannedPush(
      entry: entry,
      PushRequest(
        network: PushNetwork(configuration.defaultEnvironment),
        address: .post(PostAddress(receiver: receiver, rule: rule.name)), headers: headers,
        payload: body, validUntil: validUntil))
    // They are headers of APNs.
    post.entry.priority = nil
    post.entry.expiration = nil
    post.image = image
    post.acceptedReason = doubt(about: rule.payload.clocks, texts)
    return post
  }

  /// Returns the body: what all posts have, then the rule's `data` and `text`.
  private mutating func body(
    _ entry: LedgerEntry, _ owner: OwnerID, _ texts: PhoneTexts
  ) throws(Problem) -> [UInt8] {
    let ride = context.hasRide ? context.ride.id.text : nil
    let members: [(String, String?)] = [
      ("id", entry.id.description), ("event", entry.event.name), ("ride_id", ride),
      ("rule", entry.rule), ("owner_id", owner.text), ("app", entry.app.rawValue),
      ("locale", texts.locale),
    ]
    var body = Array("{".utf8)
    for (key, value) in members {
      body.append(json: key)
      body.append(UInt8(ascii: ":"))
      if let value { body.append(json: value) } else { body.append(contentsOf: "null".utf8) }
      body.append(UInt8(ascii: ","))
    }
    body += try payload(for: PhoneOwner(entry.app, owner), texts).dropFirst()
    if body.count <= PostAddress.payloadLimit { return body }
    throw Problem(
      status: .rejected,
      reason: LedgerReason(
        .invalidRequest,
        "the post has \(body.count) bytes, at most \(PostAddress.payloadLimit) are sent"))
  }
}
