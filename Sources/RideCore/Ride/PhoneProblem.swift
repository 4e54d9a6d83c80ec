package import Base

/// The problems that APNs or FCM reported for a phone since it was registered; most phones have none.
package struct PhoneProblem: Hashable, Sendable {
  /// The number of consecutive pushes that were refused because of a bad token.
  package var refusals = 0
  /// The push that may try the phone in the other environment; only one push may, on any node.
  package var probe: PushID?
  /// The phone was tried in the other environment and does not belong there either.
  package var isProbed = false
  /// The time until which APNs or FCM requested a pause, in microseconds since 1970.
  package var quietUntil: Int64?
  /// The phone receives nothing until it registers again or the quarantine is lifted by hand.
  package var isQuarantined = false

  /// Creates the state of a phone without problems.
  package init() {}

  /// The number of consecutive refusals that puts a phone in quarantine.
  package static let quarantineAfter = 3
}

/// What the outcome of a push reveals about its phone.
package struct PhoneObservation: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// The token was refused as bad.
    ///
    /// If `probe` is set, the right environment is still unknown, and this push may try the other
    /// one unless another push does.
    case bad(probe: PushID?)
    /// The phone was tried in the other environment, and belongs there or nowhere.
    case probed(APNsEnvironment?)
    /// The push that was to try the other environment ended before it could.
    case unprobed(PushID)
    /// Pushes to the phone are accepted again.
    case good
    /// APNs or FCM requests a pause until this time.
    case throttled(until: Timestamp)
  }

  package var phone: Int64
  package var kind: Kind

  package init(phone: Int64, _ kind: Kind) {
    self.phone = phone
    self.kind = kind
  }
}

extension Phone {
  /// Returns the environment that a push to the phone is sent to.
  func environment(of entry: LedgerEntry, _ configuration: EngineConfiguration) -> APNsEnvironment {
    if let environment { return environment }
    let usual = configuration.defaultEnvironment
    return isProbed(by: entry) ? usual.other : usual
  }

  /// Whether its token may be one of either environment of APNs; FCM has none.
  var hasUnknownEnvironment: Bool { environment == nil && platform == .ios }

  /// Returns whether this push is the one that tries the phone in the other environment.
  func isProbed(by entry: LedgerEntry) -> Bool {
    hasUnknownEnvironment && problem?.probe == entry.id && problem?.isProbed == false
  }

  /// Returns whether a push whose token APNs refused as bad may try the other environment.
  func mayBeProbed(_ configuration: EngineConfiguration) -> Bool {
    hasUnknownEnvironment && problem?.isProbed != true && configuration.probesEnvironment
  }
}

extension APNsEnvironment {
  var other: APNsEnvironment { self == .production ? .sandbox : .production }
}
