/// The consequences of a response of APNs or FCM other than 200.
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

  /// Which pushes wait if this one goes again.
  package enum Scope: Hashable, Sendable {
    /// This one alone.
    case push
    /// All to its phone.
    case phone
    /// All of its lane.
    case lane
  }

  package var push: Push
  package var scope: Scope = .push
  package var token: Token = .kept
  package var connection: Connection = .kept
  package var providerToken: ProviderToken = .kept
  /// Whether the service refuses all pushes of the app until keys or topics are corrected.
  package var isOfConfiguration = false
}

extension RefusalRule {
  /// Returns the rule of a reason; nil for one that no push gets, or that is unknown.
  package static func of(_ reason: String) -> RefusalRule? { ServiceReason[reason]?.rule }

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

  /// Returns the rule for the answer of a receiver of posts: a redirect is not followed.
  static func ofReceiver(_ status: Int) -> RefusalRule {
    switch status {
    case 408, 425, 429, 500...: .init(push: .again)
    default: .init(push: .rejected)
    }
  }
}

extension Refusal {
  /// The consequences: by its reason if that is known, otherwise by the class of the status.
  package var rule: RefusalRule {
    isByReceiver
      ? .ofReceiver(status) : reason.flatMap { RefusalRule.of($0) } ?? .ofStatus(status)
  }
}
