// Raw pushes: each states its own address, payload and headers, in the place of rule and ride.
extension Decider {
  /// Plans the one push of an event.
  mutating func evaluateRawPush(_ event: RideEvent, from source: RawPush.Source) {
    guard let (push, id) = RawPush.read(event, from: source) else {
      let id = PushID(of: "event", String(event.id), decision.view.rideID.text, source.rule)
      return close(
        rawEntry(id, event, source, of: App(rawValue: "")), .suppressed, .unreadable(source))
    }
    var entry = rawEntry(id, event, source, of: push.app)
    entry.pushType = push.pushType
    guard let platform = push.target.platform else { return plan(push, entry, nil) }
    entry.tokenSuffix = push.target.suffix
    let token = push.target.text
    let phone = decision.view.phones.first {
      $0.app == push.app && $0.token == token && $0.platform == platform
    }
    entry.phone = phone?.id
    if closeUnknown(entry) { return }
    if phone == nil, push.isRegistered { return close(entry, .suppressed, .phoneDisabled) }
    plan(push, entry, phone)
  }

  /// Retries a raw push, unchanged.
  mutating func retryRaw(_ entry: LedgerEntry, from source: RawPush.Source) {
    guard let (push, _) = RawPush.read(entry.event, from: source) else {
      return close(entry, .suppressed, .unreadable(source))
    }
    let phone = decision.view.phones.first { $0.id == entry.phone }
    if phone == nil, entry.phone != nil { return close(entry, .suppressed, .phoneDisabled) }
    plan(push, entry, phone)
  }

  /// Closes a push that was journalled and has no outcome; returns whether it is one.
  mutating func closeUnknown(_ entry: LedgerEntry) -> Bool {
    guard decision.view.memo.unrepeatable.contains(entry.id) else { return false }
    closeUncertain(entry)
    return true
  }

  private mutating func plan(_ push: RawPush, _ entry: LedgerEntry, _ phone: Phone?) {
    do throws(Planner.Problem) {
      var planned = try planned(push, entry, to: phone)
      planned.mustNotRepeat = push.mustNotRepeat
      guard let phone else { return send(planned, entry, by: nil) }
      plan(planned, entry, phone)
    } catch {
      close(entry, error.status, error.reason)
    }
  }

  private func planned(
    _ push: RawPush, _ entry: LedgerEntry, to phone: Phone?
  ) throws(Planner.Problem) -> PlannedPush {
    let validUntil = push.validUntil(from: entry.event.at)
    try Planner.check(validUntil, at: now)
    let payload = Array(push.payload.utf8)
    try Planner.check(payload, atMost: push.target.payloadLimit(push.pushType))
    try check(push, payload)
    if case .registration(let registration) = push.target {
      return try message(push, entry, to: registration, phone, validUntil: validUntil)
    }
    let topic = try Planner.topic(of: push.app, entry.pushType, configuration)
    var headers = PushHeaders(
      id: entry.id, topic: topic, pushType: entry.pushType, priority: push.priority,
      expiration: push.mayBeStored ? .at(validUntil) : .neverStore)
    let address: PushAddress
    switch push.target {
    case .channel(let id): address = .channel(try channel(id.rawValue, of: push.app))
    case .registration(let registration): address = .registration(registration)
    case .device(let token):
      address = .device(token)
      headers.collapseID = push.collapseID ?? CollapseID(entry.id.description)
      if let phone {
        var planned = PlannedPush(
          entry, headers, payload, to: phone, token: token, validUntil: validUntil,
          by: configuration)
        if let environment = push.environment {
          let network = PushNetwork(environment)
          planned.isToOtherEnvironment = network != planned.network
          planned.request.network = network
          planned.mayProbe = false
        }
        return planned
      }
    }
    return PlannedPush(
      entry: entry,
      PushRequest(
        network: PushNetwork(push.environment ?? configuration.defaultEnvironment),
        address: address,
        headers: headers, payload: payload, validUntil: validUntil))
  }

  /// Throws if Apple or Google would refuse the push; a legacy sender always got Apple's own answer.
  private func check(_ push: RawPush, _ payload: [UInt8]) throws(Planner.Problem) {
    if push.source == .legacy { return }
    let problem = RawPushProblem.of(
      push.pushType, priority: push.priority, payload: payload, to: push.target)
    guard let problem else { return }
    throw Planner.Problem(
      status: .rejected,
      reason: LedgerReason(.invalidRequest, "\(problem.field.rawValue) \(problem.text)"))
  }

  private func rawEntry(
    _ id: PushID, _ event: RideEvent, _ source: RawPush.Source, of app: App
  ) -> LedgerEntry {
    LedgerEntry(
      id: id, event: event, rule: source.rule, app: app, pushType: .alert, status: .pending,
      attempts: 0)
  }
}

extension LedgerReason {
  fileprivate static func unreadable(_ source: RawPush.Source) -> LedgerReason {
    let what = source == .legacy ? "frame" : source.rule
    return LedgerReason(.unreadableFrame, "unreadable \(what)")
  }
}
