/// What APNs has said against a phone since it was registered; most phones have none.
package struct PhoneProblem: Hashable, Sendable, Codable {
  /// How often in a row APNs called its token bad.
  package var refusals = 0
  /// The push that may try the phone in the other environment: one of all, whoever sends it.
  package var probe: PushID?
  /// It was tried there, and does not belong there either.
  package var isProbed = false
  /// Until when APNs asked to spare it, in microseconds since 1970.
  package var quietUntil: Int64?
  /// Nothing goes to it until it registers again or somebody lifts the quarantine.
  package var isQuarantined = false

  /// A phone that nothing was said against yet.
  package init() {}

  /// So many times in a row, and the phone is in quarantine.
  package static let quarantineAfter = 3
}

/// What the outcome of a push says of its phone.
package struct PhoneObservation: Hashable, Sendable {
  /// What was found.
  package enum Kind: Hashable, Sendable {
    /// APNs calls its token bad. Nothing says yet in which environment it is good, so this push
    /// may try the other one, unless another push does.
    case bad(probe: PushID?)
    /// It was tried in the other environment: it belongs there, or nowhere.
    case probed(APNsEnvironment?)
    /// The push that was to try the other environment ended before it could.
    case unprobed(PushID)
    /// APNs takes pushes to it again.
    case good
    /// APNs asks to spare it until then.
    case throttled(until: Timestamp)
  }

  /// `Phone.id`.
  package var phone: Int64
  /// What was found.
  package var kind: Kind

  /// What the outcome of a push says of its phone.
  package init(phone: Int64, _ kind: Kind) {
    self.phone = phone
    self.kind = kind
  }
}

extension Phone {
  /// Where a push to it goes.
  func environment(of entry: LedgerEntry, _ configuration: EngineConfiguration) -> APNsEnvironment {
    if let environment { return environment }
    let usual = configuration.defaultEnvironment
    return isProbed(by: entry) ? usual.other : usual
  }

  /// Whether this push is the one that tries the phone in the other environment.
  func isProbed(by entry: LedgerEntry) -> Bool {
    environment == nil && problem?.probe == entry.id && problem?.isProbed == false
  }

  /// Whether a push that calls its token bad may be tried in the other environment.
  func mayBeProbed(_ configuration: EngineConfiguration) -> Bool {
    environment == nil && problem?.isProbed != true && configuration.probesEnvironment
  }
}

extension APNsEnvironment {
  /// Apple has two.
  var other: APNsEnvironment { self == .production ? .sandbox : .production }
}
