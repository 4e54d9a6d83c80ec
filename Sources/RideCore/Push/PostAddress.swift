/// The receiver of a post, and the rule that posts.
package struct PostAddress: Hashable, Sendable {
  /// The name after `post:`, such as `sms`.
  package var receiver: String
  /// The rule's name: a 410 turns its posts off.
  package var rule: String

  package init(receiver: String, rule: String) {
    self.receiver = receiver
    self.rule = rule
  }

  /// The maximum number of bytes in the body.
  package static let payloadLimit = 65_536

  static let lanePrefix = "post "

  /// The lane of its posts; no app's name has a space.
  package var lane: String { Self.lanePrefix + receiver }

  package var urlVariable: String { PostReceivers.variable(of: receiver, "URL") }
}

/// The receivers of posts that the environment configures.
package struct PostReceivers: Hashable, Sendable {
  /// The variables that are set; nil means all, for a replay.
  private var variables: Set<String>?

  /// - Parameter variables: The names of the variables that are set.
  package init(_ variables: Set<String> = []) { self.variables = variables }

  /// Every receiver, for decisions that are only shown.
  package static var all: PostReceivers {
    var all = PostReceivers()
    all.variables = nil
    return all
  }

  /// Returns the first variable that must be set before a receiver gets posts; nil if it does.
  package func missing(_ receiver: String) -> String? {
    guard let variables else { return nil }
    return ["URL", "SECRET"].map { Self.variable(of: receiver, $0) }
      .first { !variables.contains($0) }
  }

  /// Returns the name of a variable, such as `RIDEPULSE_POST_SMS_URL`.
  package static func variable(of receiver: String, _ end: String) -> String {
    "RIDEPULSE_POST_\(receiver.uppercased().replacing("-", with: "_"))_\(end)"
  }
}

extension PushOutcome {
  /// Creates the outcome of a post from the receiver's answer.
  package init(postStatus status: Int, retryAfter: Duration?) {
    if (200..<300).contains(status) {
      self = .accepted
      return
    }
    var refusal = Refusal(status: status, retryAfter: retryAfter)
    refusal.isByReceiver = true
    self = .refused(refusal)
  }
}

extension LedgerReason {
  /// An answer of a receiver other than 2xx.
  init(receiver status: Int) {
    if status == 410 {
      self.init(
        .receiverGone, "the receiver answered 410: the rule's posts are off until the next reload")
    } else {
      self.init(.status(status), "the receiver answered HTTP \(status)")
    }
  }
}

extension Verdict {
  /// What an outcome means for a push: the reason of a post names its receiver, and not APNs.
  init(_ outcome: PushOutcome, of push: PlannedPush) {
    self.init(outcome, over: push.network)
    if push.entry.kind == .post { reason = reason?.ofPost }
  }
}

extension LedgerReason {
  /// The reason with the words of posts.
  var ofPost: LedgerReason {
    let text: String
    switch code {
    case .engine(.appPaused), .engine(.appUnreachable):
      text = "the posts to the receiver are paused: most of them fail"
    case .engine(.noFreeStream): text = "no free connection to the receiver in time"
    case .engine(.queuedBehind): text = "an earlier post to the person goes first"
    default: return self
    }
    return LedgerReason(code, text)
  }
}
