/// The consequences of an APNs response other than 200.
package struct RefusalRule: Hashable, Sendable {
  /// Whether the push is retried.
  package enum Push: Hashable, Sendable {
    /// Never: it would be refused every time.
    case rejected
    /// Later, rendered from the ride's state at that time, while the push is still valid.
    case again
    /// At once on another connection: APNs did not process it on this one.
    case elsewhere
  }

  /// The consequence for the device token.
  package enum Token: Hashable, Sendable {
    /// The token stays valid.
    case kept
    /// The token is invalid, if APNs names a time after its registration.
    ///
    /// A channel's ID is never reused, so it needs no such time.
    case gone
    /// The token may be wrong, or the configuration: a single response proves neither.
    case suspect
  }

  /// The consequence for the connection.
  package enum Connection: Hashable, Sendable {
    /// The connection stays in use.
    case kept
    /// The connection takes no more pushes, and another one is opened.
    case replaced
  }

  /// The consequence for the provider token.
  package enum ProviderToken: Hashable, Sendable {
    /// The provider token stays in use.
    case kept
    /// A new one is signed.
    case renewed
  }

  package var push: Push
  package var token: Token = .kept
  package var connection: Connection = .kept
  package var providerToken: ProviderToken = .kept
  /// Whether APNs refuses all pushes of the app until keys or topics are corrected.
  package var isOfConfiguration = false
}

extension RefusalRule {
  /// Apple's reasons, and those seen on the wire.
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
    // The app may not broadcast yet; its other pushes are unaffected.
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
    // 403: if the key is at fault, the push itself is still good, and is retried until the key
    // works.
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

  /// Returns the rule for an unknown or missing reason: an unreadable body must not turn a
  /// temporary failure into a permanent one, nor hide a permanent one.
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
  /// The consequences: by Apple's reason if it is known, otherwise by the class of the status.
  package var rule: RefusalRule {
    reason.flatMap { RefusalRule.table[$0] } ?? .ofStatus(status)
  }
}
