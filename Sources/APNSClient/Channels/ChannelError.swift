package import RideCore

/// Why a call about channels did not do what it was asked to.
package enum ChannelError: Error, Hashable, Sendable {
  /// APNs answered, and did not do it.
  case refused(ChannelRefusal)

  /// It left, or may have left, and no answer that says what became of it arrived: a channel may
  /// have been made. The text says what happened.
  case unanswered(String)

  /// It provably did not leave; the text says why.
  case unreachable(String)

  /// The provider token can't be signed.
  case key(SigningKeyError)

  /// What APNs answered, where it did.
  package var refusal: ChannelRefusal? {
    if case .refused(let refusal) = self { refusal } else { nil }
  }

  /// True where a create may have made a channel whose ID nobody has.
  package var mayHaveTakenEffect: Bool {
    switch self {
    case .unanswered: true
    // What went wrong inside APNs, or in a proxy before it, may have gone wrong after the deed.
    case .refused(let refusal): refusal.status >= 500 && !refusal.didNotExecute
    case .unreachable, .key: false
    }
  }
}

/// An answer of APNs other than that it was done.
package struct ChannelRefusal: Hashable, Sendable {
  /// The HTTP status.
  package var status: Int

  /// Apple's reason; nil where the body held none.
  package var reason: String?

  /// The `apns-request-id` of the answer, by which Apple can find the call.
  package var requestID: String?

  /// An answer of APNs.
  package init(status: Int, reason: String? = nil, requestID: String? = nil) {
    self.status = status
    self.reason = reason
    self.requestID = requestID
  }

  /// What it means, and what to do.
  package var words: BroadcastReason { .of(status: status, reason: reason) }

  var didNotExecute: Bool { reason == "Shutdown" || reason == "ServiceUnavailable" }
}

extension ChannelError: CustomStringConvertible {
  /// What happened and what to do, in one line; safe to log.
  package var description: String {
    switch self {
    case .refused(let refusal):
      let reason = refusal.reason.map { " \($0)" } ?? ""
      return
        "APNs answered \(refusal.status)\(reason): \(refusal.words.meaning); \(refusal.words.advice)"
    case .unanswered(let what): return "no answer that tells what became of it: \(what)"
    case .unreachable(let why): return "APNs can't be reached: \(why)"
    case .key(let error): return error.description
    }
  }
}
