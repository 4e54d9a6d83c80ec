// How earlier APNs responses about a phone affect pushes to it.
extension Decider {
  /// Plans a push to a phone.
  ///
  /// A push to a phone that APNs has refused or throttled may be postponed or closed instead.
  mutating func plan(_ planner: inout Planner, _ entry: LedgerEntry, _ phone: Phone) {
    do {
      plan(try planner.push(entry, to: phone), entry, phone)
    } catch {
      close(entry, error.status, error.reason)
    }
  }

  /// Returns why a rule skips a phone whose owner was in contact lately; nil if it skips nothing.
  func contact(_ rule: CompiledRule, _ phone: Phone) -> LedgerReason? {
    guard let limit = rule.unlessContactWithin, let contactedAt = phone.contactedAt else {
      return nil
    }
    // A contact that arrived while this was being decided has an age of zero.
    let age = max(.zero, now - contactedAt)
    return age < limit
      ? LedgerReason(.recentContact, "the phone was in contact \(age.components.seconds) s ago")
      : nil
  }

  mutating func plan(_ push: PlannedPush, _ entry: LedgerEntry, _ phone: Phone) {
    guard let problem = phone.problem else {
      decision.pushes.append(push)
      return
    }
    if problem.isQuarantined {
      close(
        entry, .suppressed,
        LedgerReason(
          .phoneQuarantined,
          "the phone is in quarantine: APNs refused its token \(problem.refusals) times in a row"))
    } else if let quiet = problem.quiet, quiet > now {
      postpone(push, until: quiet, .tooManyRequests)
    } else if entry.reason?.code == .badDeviceToken, phone.environment == nil, problem.isProbed {
      close(entry, .rejected, .badDeviceToken)
    } else if entry.reason?.code == .badDeviceToken, phone.environment == nil,
      problem.probe != nil, !phone.isProbed(by: entry)
    {
      // Another push is trying the other environment for this phone.
      postpone(push, until: now + .seconds(1), .badDeviceToken)
    } else {
      decision.pushes.append(push)
    }
  }

  mutating func postpone(_ push: PlannedPush, until due: Timestamp, _ reason: LedgerReason) {
    var entry = push.entry
    if due >= push.validUntil { return close(entry, .expired, reason) }
    entry.status = .pending
    entry.reason = reason
    decision.postponed.append(PendingPush(entry: entry, due: due, image: push.image))
  }
}

extension PhoneProblem {
  fileprivate var quiet: Timestamp? { quietUntil.map { Timestamp(microseconds: $0) } }
}

// What push outcomes reveal about phones.
extension Settlement {
  /// Records what the outcome of a push reveals about its phone.
  ///
  /// - Parameter isDoubtful: Whether the refusal of a token may be due to the configuration; then it
  ///   does not count against the phone.
  mutating func examine(
    _ push: PlannedPush, _ outcome: PushOutcome, _ verdict: Verdict, goesAgain: Bool,
    isDoubtful: Bool, now: Timestamp
  ) {
    guard let phone = push.entry.phone else { return }
    func found(_ kind: PhoneObservation.Kind) {
      observations.append(PhoneObservation(phone: phone, kind))
    }
    if outcome == .accepted {
      if push.isProbe {
        found(.probed(push.environment))
      } else if push.isToRefusedPhone {
        found(.good)
      }
    } else if outcome.refusesToken {
      if push.isProbe {
        found(.probed(nil))
      } else if goesAgain {
        found(.bad(probe: push.entry.id))
      } else if !isDoubtful {
        found(.bad(probe: nil))
      }
    } else if case .refused(let refusal) = outcome, refusal.reason == "TooManyRequests",
      case .again(let least) = verdict.kind
    {
      found(.throttled(until: now + least))
    }
  }

  /// Releases the environment probe of pushes that ended without it, so that other pushes can
  /// probe.
  mutating func releaseProbes(of view: RideView) {
    let probes = view.phones.compactMap { phone in phone.problem?.probe.map { ($0, phone) } }
    let phones = Dictionary(probes, uniquingKeysWith: { first, _ in first })
    let probed = Set(observations.lazy.filter(\.isProbe).map(\.phone))
    for entry in entries where entry.status != .pending {
      guard let phone = phones[entry.id], phone.id == entry.phone, phone.isProbed(by: entry),
        !probed.contains(phone.id)
      else { continue }
      observations.append(PhoneObservation(phone: phone.id, .unprobed(entry.id)))
    }
  }
}

extension PhoneObservation {
  fileprivate var isProbe: Bool {
    if case .probed = kind { true } else { false }
  }
}

extension PushOutcome {
  /// Whether the token may be one of the other environment.
  var isBadDeviceToken: Bool {
    if case .refused(let refusal) = self { refusal.reason == "BadDeviceToken" } else { false }
  }

  /// Whether APNs refused the token itself: as bad, or as one of another topic.
  package var refusesToken: Bool {
    if case .refused(let refusal) = self { refusal.rule.token == .suspect } else { false }
  }
}

// Pushes of legacy senders: each frame states its own phone, payload and expiration.
extension Decider {
  /// Plans one push to the phone with the frame's token; the frame takes the place of rule and
  /// ride.
  mutating func evaluateLegacyPush(_ event: RideEvent) {
    guard let (push, id) = LegacyPush.read(event) else {
      let id = PushID(of: "event", String(event.id), decision.view.rideID.text, LegacyPush.rule)
      return close(legacyEntry(id, event, of: App(rawValue: "")), .suppressed, .unreadableFrame)
    }
    var entry = legacyEntry(id, event, of: push.app)
    entry.pushType = push.pushType
    entry.tokenSuffix = push.token.suffix
    let phone = decision.view.phones.first { $0.app == push.app && $0.token == push.token.hex }
    guard let phone else { return close(entry, .suppressed, .phoneDisabled) }
    entry.phone = phone.id
    plan(push, entry, phone)
  }

  /// Retries a legacy push, unchanged from its frame.
  mutating func retryLegacy(_ entry: LedgerEntry) {
    guard let (push, _) = LegacyPush.read(entry.event) else {
      return close(entry, .suppressed, .unreadableFrame)
    }
    guard let phone = decision.view.phones.first(where: { $0.id == entry.phone }) else {
      return close(entry, .suppressed, .phoneDisabled)
    }
    plan(push, entry, phone)
  }

  private mutating func plan(_ push: LegacyPush, _ entry: LedgerEntry, _ phone: Phone) {
    do throws(Planner.Problem) {
      plan(try planned(push, entry, to: phone), entry, phone)
    } catch {
      close(entry, error.status, error.reason)
    }
  }

  private func planned(
    _ push: LegacyPush, _ entry: LedgerEntry, to phone: Phone
  ) throws(Planner.Problem) -> PlannedPush {
    let validUntil = push.validUntil(from: entry.event.at)
    try Planner.check(validUntil, at: now)
    let topic = try Planner.topic(of: push.app, entry.pushType, configuration)
    let payload = Array(push.payload.utf8)
    try Planner.check(payload)
    let headers = PushHeaders(
      id: entry.id, topic: topic, pushType: entry.pushType, priority: push.priority,
      expiration: push.expiration == 0 ? .neverStore : .at(validUntil),
      collapseID: CollapseID(entry.id.description))
    return PlannedPush(
      entry, headers, payload, to: phone, token: push.token, validUntil: validUntil,
      by: configuration)
  }

  private func legacyEntry(_ id: PushID, _ event: RideEvent, of app: App) -> LedgerEntry {
    LedgerEntry(
      id: id, event: event, rule: LegacyPush.rule, app: app, pushType: .alert, status: .pending,
      attempts: 0)
  }
}
