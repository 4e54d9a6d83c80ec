// What APNs has said against phones, and what that means for pushes to them.
extension Decider {
  /// A push to a phone that nothing speaks against goes; another waits, or ends here.
  mutating func plan(_ planner: inout Planner, _ entry: LedgerEntry, _ phone: Phone) {
    do {
      plan(try planner.push(entry, to: phone), entry, phone)
    } catch {
      close(entry, error.status, error.reason)
    }
  }

  /// Why a rule has nothing to say to a phone whose owner was heard from; nil where it has.
  func contact(_ rule: CompiledRule, _ phone: Phone) -> String? {
    guard let limit = rule.rule.unlessContactWithin, let contactedAt = phone.contactedAt else {
      return nil
    }
    // One that came while this was being decided is no time ago.
    let age = max(.zero, now - contactedAt)
    return age < limit ? "heard from the phone \(age.components.seconds)s ago" : nil
  }

  mutating func plan(_ push: PlannedPush, _ entry: LedgerEntry, _ phone: Phone) {
    guard let trouble = phone.trouble else {
      decision.pushes.append(push)
      return
    }
    if trouble.isQuarantined {
      close(
        entry, .suppressed,
        "the phone is in quarantine: BadDeviceToken \(trouble.refusals) times in a row")
    } else if let quiet = trouble.quiet, quiet > now {
      postpone(push.entry, until: quiet, "TooManyRequests", trueUntil: push.trueUntil)
    } else if entry.reason == "BadDeviceToken", phone.environment == nil, trouble.isProbed {
      close(entry, .rejected, "BadDeviceToken")
    } else if entry.reason == "BadDeviceToken", phone.environment == nil,
      trouble.probe != nil, !phone.isProbed(by: entry)
    {
      // Another push finds out for this one.
      postpone(push.entry, until: now + .seconds(1), "BadDeviceToken", trueUntil: push.trueUntil)
    } else {
      decision.pushes.append(push)
    }
  }

  private mutating func postpone(
    _ entry: LedgerEntry, until due: Instant, _ reason: String, trueUntil: Instant
  ) {
    if due >= trueUntil { return close(entry, .expired, reason) }
    var entry = entry
    entry.status = .pending
    entry.reason = reason
    decision.postponed.append(PendingPush(entry: entry, due: due))
  }
}

extension PhoneTrouble {
  fileprivate var quiet: Instant? { quietUntil.map { Instant(microseconds: $0) } }
}

// What outcomes say of phones.
extension Settlement {
  /// Notes what the outcome of a push says of its phone.
  mutating func examine(
    _ push: PlannedPush, _ outcome: PushOutcome, _ verdict: Verdict, goesAgain: Bool, now: Instant
  ) {
    guard let phone = push.entry.phone else { return }
    func found(_ kind: PhoneFinding.Kind) { findings.append(PhoneFinding(phone: phone, kind)) }
    if outcome == .accepted {
      if push.isProbe {
        found(.probed(push.environment))
      } else if push.isToRefusedPhone {
        found(.good)
      }
    } else if outcome.isBadDeviceToken {
      found(push.isProbe ? .probed(nil) : .bad(probe: goesAgain ? push.entry.id : nil))
    } else if case .refused(let refusal) = outcome, refusal.reason == "TooManyRequests",
      case .again(let least) = verdict.kind
    {
      found(.throttled(until: now + least))
    }
  }

  /// A push that was to try the other environment, and has ended otherwise, leaves that to others.
  mutating func releaseProbes(of view: RideView) {
    for entry in entries where entry.status != .pending {
      let probed = view.phones.first { $0.id == entry.phone }.map { $0.isProbed(by: entry) }
      if probed == true, !findings.contains(where: { $0.isProbe(of: entry) }) {
        findings.append(PhoneFinding(phone: entry.phone ?? 0, .unprobed(entry.id)))
      }
    }
  }
}

extension PhoneFinding {
  fileprivate func isProbe(of entry: LedgerEntry) -> Bool {
    if case .probed = kind { phone == entry.phone } else { false }
  }
}

extension PushOutcome {
  var isBadDeviceToken: Bool {
    if case .refused(let refusal) = self { refusal.reason == "BadDeviceToken" } else { false }
  }
}
