package import RideCore

/// Why a channel call failed.
package enum ChannelError: Error, Hashable, Sendable {
  /// APNs answered with a refusal.
  case refused(ChannelRefusal)

  /// The request left, or may have left, and no usable answer arrived: a channel may have been
  /// created.
  ///
  /// The text describes the failure.
  case unanswered(String)

  /// The request provably did not leave; the text gives the reason.
  case unreachable(String)

  /// The provider token can't be signed.
  case key(SigningKeyError)

  /// The app has neither a signing key nor a client certificate for the environment.
  case noCredential(ChannelScope)

  /// APNs' refusal, or nil if the call failed otherwise.
  package var refusal: ChannelRefusal? {
    if case .refused(let refusal) = self { refusal } else { nil }
  }

  /// True if a create may have made a channel whose ID was lost.
  package var mayHaveTakenEffect: Bool {
    switch self {
    case .unanswered: true
    // APNs, or a proxy before it, may have failed after it had executed the call.
    case .refused(let refusal): refusal.status >= 500 && !refusal.didNotExecute
    case .unreachable, .key, .noCredential: false
    }
  }
}

/// An answer of APNs other than success.
package struct ChannelRefusal: Hashable, Sendable {
  package var status: Int

  /// Apple's reason; nil if the body has none.
  package var reason: String?

  /// The `apns-request-id` of the answer, by which Apple can find the call.
  package var requestID: String?

  package init(status: Int, reason: String? = nil, requestID: String? = nil) {
    self.status = status
    self.reason = reason
    self.requestID = requestID
  }

  /// The meaning of the refusal and what to do about it.
  package var explanation: ReasonExplanation { .of(status: status, reason: reason) }

  static let shutdown = "Shutdown"

  var didNotExecute: Bool { reason == Self.shutdown || reason == "ServiceUnavailable" }

  /// True if APNs reports the provider token as expired.
  var reportsExpiredToken: Bool {
    reason.flatMap { RefusalRule.of($0) }?.providerToken == .renewed
  }
}

extension ChannelError: CustomStringConvertible {
  /// The failure and its remedy in one line; safe to log.
  package var description: String {
    switch self {
    case .refused(let refusal):
      let reason = refusal.reason.map { " \($0)" } ?? ""
      let explanation = refusal.explanation
      return
        "APNs answered \(refusal.status)\(reason): \(explanation.meaning); \(explanation.advice)"
    case .unanswered(let what): return "no answer, so the outcome is unknown: \(what)"
    case .unreachable(let why): return "APNs unreachable: \(why)"
    case .key(let error): return error.description
    case .noCredential(let scope):
      return "no signing key for \(scope): set one for its app, or APNS_PRIVATE_KEY_PATH for all"
    }
  }
}
