/// What follows from an answer of APNs other than 200.
package struct RefusalRule: Hashable, Sendable {
  /// Whether the push goes again.
  package enum Push: Hashable, Sendable {
    /// It will be refused however often it is sent.
    case rejected
    /// Later, as the ride is then, while it is true.
    case again
    /// At once, on another connection: this one did not look at it.
    case elsewhere
  }

  /// What it says of the device token.
  package enum Token: Hashable, Sendable {
    /// Nothing.
    case kept
    /// It reaches nobody any more, where APNs names a time after its registration. A channel's ID
    /// is never given twice: there it needs no time.
    case gone
    /// It may be wrong, and so may be our configuration: one alone proves neither.
    case suspect
  }

  /// What becomes of the connection.
  package enum Connection: Hashable, Sendable {
    /// It serves on.
    case kept
    /// It takes no more pushes, and another is opened.
    case replaced
  }

  /// What becomes of the provider token.
  package enum ProviderToken: Hashable, Sendable {
    /// It serves on.
    case kept
    /// Another is signed.
    case renewed
  }

  /// Whether the push goes again.
  package var push: Push
  /// What it says of the device token.
  package var token: Token = .kept
  /// What becomes of the connection.
  package var connection: Connection = .kept
  /// What becomes of the provider token.
  package var providerToken: ProviderToken = .kept
  /// No push of the app can be taken as things are: somebody must mend keys or topics.
  package var isOfConfiguration = false
}

extension RefusalRule {
  /// Apple's reasons, and those seen on the wire, as their table has them.
  package static let table: [String: RefusalRule] = [
    // 400
    "BadChannelId": .init(push: .rejected, token: .gone),
    "BadCollapseId": .init(push: .rejected),
    "BadDeviceToken": .init(push: .rejected, token: .suspect),
    "BadExpirationDate": .init(push: .rejected),
    "BadMessageId": .init(push: .rejected),
    "BadPriority": .init(push: .rejected),
    "BadRequestParams": .init(push: .rejected),
    "BadRequestPayload": .init(push: .rejected),
    "BadTopic": .init(push: .rejected, isOfConfiguration: true),
    // The app may not broadcast yet; what else it sends is as good as ever.
    "BroadcastFeatureNotEnabled": .init(push: .again),
    "ChannelNotRegistered": .init(push: .rejected, token: .gone),
    "DeviceTokenNotForTopic": .init(push: .rejected, token: .suspect),
    "DuplicateHeaders": .init(push: .rejected),
    "FeatureNotEnabled": .init(push: .again),
    "IdleTimeout": .init(push: .elsewhere, connection: .replaced),
    "InvalidPushType": .init(push: .rejected),
    "MissingChannelId": .init(push: .rejected),
    "MissingDeviceToken": .init(push: .rejected),
    "MissingPushType": .init(push: .rejected),
    "MissingTopic": .init(push: .rejected, isOfConfiguration: true),
    "PayloadEmpty": .init(push: .rejected),
    "TopicDisallowed": .init(push: .rejected, isOfConfiguration: true),
    // 403: where the key is at fault the push is as good as it was, and goes when the key is.
    "BadCertificate": .init(push: .rejected, isOfConfiguration: true),
    "BadCertificateEnvironment": .init(push: .rejected, isOfConfiguration: true),
    "ExpiredProviderToken": .init(
      push: .elsewhere, connection: .replaced, providerToken: .renewed),
    "Forbidden": .init(push: .rejected, isOfConfiguration: true),
    "InvalidProviderToken": .init(push: .again, isOfConfiguration: true),
    "MissingProviderToken": .init(push: .again, isOfConfiguration: true),
    "UnrelatedKeyIdInToken": .init(push: .elsewhere, connection: .replaced),
    "BadEnvironmentKeyIdInToken": .init(push: .again, isOfConfiguration: true),
    "BadEnvironmentKeyInToken": .init(push: .again, isOfConfiguration: true),
    // 404, 405
    "BadPath": .init(push: .rejected),
    "MethodNotAllowed": .init(push: .rejected),
    // 410
    "ExpiredToken": .init(push: .rejected, token: .gone),
    "Unregistered": .init(push: .rejected, token: .gone),
    // 413
    "PayloadTooLarge": .init(push: .rejected),
    // 429
    "TooManyProviderTokenUpdates": .init(push: .again, connection: .replaced),
    "TooManyRequests": .init(push: .again),
    // 500, 503
    "InternalServerError": .init(push: .again),
    "ServiceUnavailable": .init(push: .again),
    "Shutdown": .init(push: .elsewhere, connection: .replaced),
  ]

  /// For a reason that nobody knows, or none: a body that can't be read must not turn a passing
  /// failure into a lasting one, nor hide a lasting one.
  static func ofStatus(_ status: Int) -> RefusalRule {
    switch status {
    case 410: .init(push: .rejected, token: .gone)
    case 408, 429: .init(push: .again)
    case 400..<500: .init(push: .rejected)
    default: .init(push: .again)
    }
  }
}

extension Refusal {
  /// What follows: by Apple's reason where it is known, else by the class of the status.
  package var rule: RefusalRule {
    reason.flatMap { RefusalRule.table[$0] } ?? .ofStatus(status)
  }
}
