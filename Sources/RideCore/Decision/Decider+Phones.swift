// How earlier responses about a phone affect pushes to it.

import Base
extension Decider {
  /// Plans a push to a phone.
  ///
  /// A push to a phone that was refused or throttled may be deferred or closed instead.
  mutating func plan(_ planner: inout Planner, _ entry: LedgerEntry, _ phone: Phone) {
    if phone.hasAlertsOff, planner.rule.isSeenOrHeard {
      return close(entry, .suppressed, .alertsOff)
    }
    do {
      let push = try planner.push(entry, to: phone)
      if keepQuiet(push, entry, planner, phone.texts) { return }
      plan(push, entry, phone, by: planner.rule)
    } catch {
      var entry = entry
      // The ride's previous holder may have sent it: what it would replace must not follow it.
      if decision.view.mayHaveBeenSent { planner.setCollapseID(of: &entry) }
      close(entry, error.status, error.reason)
    }
  }

  /// - Parameter rule: the rule whose push it is; nil for a raw push.
  mutating func plan(
    _ push: consuming PlannedPush, _ entry: LedgerEntry, _ phone: Phone,
    by rule: CompiledRule? = nil
  ) {
    guard let problem = phone.problem else { return send(push, entry, by: rule) }
    if problem.isQuarantined {
      close(entry, .suppressed, .quarantined(problem, phone.platform))
    } else if let quiet = problem.quiet, quiet > now {
      wait(push, .retry(at: quiet), .throttled(on: phone.platform))
    } else if entry.reason?.code == .badDeviceToken, phone.hasUnknownEnvironment,
      problem.isProbed
    {
      close(entry, .rejected, .badDeviceToken)
    } else if entry.reason?.code == .badDeviceToken, phone.hasUnknownEnvironment,
      problem.probe != nil, !phone.isProbed(by: entry)
    {
      // Another push is trying the other environment for this phone.
      wait(push, .retry(at: now + .seconds(1)), .badDeviceToken)
    } else {
      send(push, entry, by: rule)
    }
  }

  /// Leaves a push for a later decision, if it is still valid then.
  mutating func wait(_ push: PlannedPush, _ wait: Wait, _ reason: LedgerReason) {
    if wait.due >= push.validUntil { return close(push.entry, .expired, reason) }
    self.wait(push.entry, wait, reason, image: push.image)
  }
}

extension PhoneProblem {
  var quiet: Timestamp? { quietUntil.map { Timestamp(microseconds: $0) } }
}

extension LedgerReason {
  static func quarantined(_ problem: PhoneProblem, _ platform: Platform) -> LedgerReason {
    LedgerReason(
      .phoneQuarantined,
      "the phone is in quarantine: \(platform.service) refused its token "
        + "\(problem.refusals) times in a row")
  }
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
        found(.probed(push.network.apns))
      } else if push.isToRefusedPhone {
        found(.good)
      }
    } else if outcome.refusesToken {
      if push.isToOtherEnvironment { return }
      if push.isProbe {
        // A doubtful refusal proves nothing about the other environment: another push may probe it.
        found(isDoubtful ? .unprobed(push.entry.id) : .probed(nil))
      } else if goesAgain {
        found(.bad(probe: push.entry.id))
      } else if !isDoubtful {
        found(.bad(probe: nil))
      }
    } else if case .refused(let refusal) = outcome, refusal.rule.scope == .phone,
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
    let probed = Set(observations.lazy.filter(\.endsProbe).map(\.phone))
    for entry in entries where entry.status != .pending {
      guard let phone = phones[entry.id], phone.id == entry.phone, phone.isProbed(by: entry),
        !probed.contains(phone.id)
      else { continue }
      observations.append(PhoneObservation(phone: phone.id, .unprobed(entry.id)))
    }
  }
}

extension PhoneObservation {
  fileprivate var endsProbe: Bool {
    switch kind {
    case .probed, .unprobed: true
    default: false
    }
  }
}

extension PushOutcome {
  /// Whether the token may be one of the other environment.
  var isBadDeviceToken: Bool {
    if case .refused(let refusal) = self { refusal.reason == "BadDeviceToken" } else { false }
  }

  /// Whether the token itself was refused: as bad, or as one of another topic or project.
  package var refusesToken: Bool {
    if case .refused(let refusal) = self { refusal.rule.token == .suspect } else { false }
  }
}
