/// A reason that APNs or FCM gives for an answer other than 200.
///
/// Their two tables, `APNsReason` and `FCMReason`, are the only ones: the clients, the decision, the
/// metrics, `doctor` and the channel commands take from them what a reason means for each.
package struct ServiceReason: Hashable, Sendable {
  /// Where the fault lies, as far as the reason shows it.
  package enum Cause: Hashable, Sendable {
    case deviceToken
    case topic
    /// The signing key, the client certificate or the service account.
    case key
    case environment
    case clock
    case other

    /// Whether the service's configuration has to be corrected.
    package var isOfConfiguration: Bool {
      switch self {
      case .topic, .key, .environment: true
      case .deviceToken, .clock, .other: false
      }
    }
  }

  /// The status that the service documents for the reason.
  package var status: Int

  /// The consequences for a push; nil if only the channel API gives the reason.
  package var rule: RefusalRule?

  package var cause: Cause

  /// The explanation to a person; nil for reasons that only a fault of RidePulse or the phone's own
  /// token can cause.
  package var explanation: ReasonExplanation?

  init(
    _ status: Int, _ rule: RefusalRule?, cause: Cause = .other,
    _ explanation: ReasonExplanation? = nil
  ) {
    self.status = status
    self.rule = rule
    self.cause = cause
    self.explanation = explanation
  }
}

extension ServiceReason {
  /// Returns the reason that a word names; the words of the two services differ.
  package static subscript(_ word: String) -> ServiceReason? {
    APNsReason.table[word] ?? FCMReason.table[word]
  }
}
