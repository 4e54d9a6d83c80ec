/// What one outcome means for the push and its phone.
struct Verdict: Equatable {
  enum Kind: Equatable {
    /// APNs accepted it.
    case accepted
    /// APNs will never accept it.
    case rejected
    /// It may be sent again, after this delay at the earliest.
    case again(atLeast: Duration)
  }

  var kind: Kind
  /// The ledger's reason: Apple's reason string, if APNs gave one.
  var reason: String?
  /// Since when APNs reports the phone's token as gone; nil if it does not.
  var phoneGone: Timestamp?
  /// Whether the token or channel that it was sent to is gone, with or without a time.
  var isGone = false
  /// Whether APNs accepted it, or may have accepted it.
  var mayHaveArrived = false
  /// Whether it was handed to APNs, or to a network that did not deliver it there.
  var wasTried = true

  init(_ outcome: PushOutcome) {
    switch outcome {
    case .accepted:
      self.init(kind: .accepted)
      mayHaveArrived = true
    case .refused(let refusal): self.init(refusal)
    case .unsent(.invalid(let text)): self.init(kind: .rejected, reason: text)
    case .unsent(.turnedAway(let refusal)): self.init(refusal)
    case .unsent(.paused(let wait)):
      self.init(kind: .again(atLeast: wait), reason: UnsentCause.paused(for: wait).text)
      wasTried = false
    case .unsent(.closed), .unsent(.heldBack):
      self.init(kind: .again(atLeast: .zero), reason: outcome.unsentText)
      wasTried = false
    case .unsent(let cause): self.init(kind: .again(atLeast: .zero), reason: cause.text)
    // Sending it twice is safe: both carry the same apns-id and collapse on the screen.
    case .unanswered(let cause):
      self.init(kind: .again(atLeast: .zero), reason: cause.text)
      mayHaveArrived = true
    }
  }

  private init(_ refusal: Refusal) {
    let reason = refusal.reason ?? "HTTP \(refusal.status)"
    if refusal.rule.push == .rejected {
      self.init(kind: .rejected, reason: reason)
      isGone = refusal.rule.token == .gone
      if isGone { phoneGone = refusal.timestamp }
    } else {
      let least: Duration = refusal.status >= 500 ? .seconds(5) : .seconds(2)
      self.init(kind: .again(atLeast: refusal.retryAfter ?? least), reason: reason)
    }
  }

  /// Creates a verdict with a reason that is cut short and free of NUL.
  ///
  /// The reason may come from outside, and Postgres refuses a NUL together with the whole
  /// settlement.
  private init(kind: Kind, reason: String? = nil) {
    self.kind = kind
    self.reason = reason?.brief(bytes: 300)
  }
}

extension UnsentCause {
  /// The ledger's reason.
  var text: String {
    switch self {
    case .noConnection(let text): "no connection: \(text)"
    case .goAway(let reason): "GOAWAY \(reason ?? "without a reason")"
    case .refusedStream: "REFUSED_STREAM"
    case .turnedAway(let refusal): refusal.reason ?? "HTTP \(refusal.status)"
    case .queuedTooLong: "no free stream in time"
    case .closed: "the service stopped"
    case .heldBack: "an earlier push to the phone goes first"
    case .paused: "the app's pushes are paused: APNs refuses them"
    case .invalid(let text): text
    }
  }
}

extension UnansweredCause {
  /// The ledger's reason.
  var text: String {
    switch self {
    case .timeout: "no answer in time"
    case .connectionLost(let text): "connection lost: \(text)"
    case .reset(let code): "stream reset: \(code)"
    }
  }
}

extension PushOutcome {
  fileprivate var unsentText: String? {
    if case .unsent(let cause) = self { cause.text } else { nil }
  }

  /// The ledger's reason for this outcome, or `accepted`.
  package var reason: String { Verdict(self).reason ?? "accepted" }
}
