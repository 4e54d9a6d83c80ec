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
  var reason: LedgerReason?
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
    case .unsent(.invalid(let text)):
      self.init(kind: .rejected, reason: LedgerReason(.invalid(text)))
    case .unsent(.turnedAway(let refusal)): self.init(refusal)
    case .unsent(.paused(let wait)):
      self.init(kind: .again(atLeast: wait), reason: LedgerReason(.paused(for: wait)))
      wasTried = false
    case .unsent(let cause) where cause == .closed || cause == .heldBack:
      self.init(kind: .again(atLeast: .zero), reason: LedgerReason(cause))
      wasTried = false
    case .unsent(let cause): self.init(kind: .again(atLeast: .zero), reason: LedgerReason(cause))
    // Sending it twice is safe: both carry the same apns-id and collapse on the screen.
    case .unanswered(let cause):
      self.init(kind: .again(atLeast: .zero), reason: LedgerReason(cause))
      mayHaveArrived = true
    }
  }

  private init(_ refusal: Refusal) {
    let reason = LedgerReason(refusal)
    if refusal.rule.push == .rejected {
      self.init(kind: .rejected, reason: reason)
      isGone = refusal.rule.token == .gone
      if isGone { phoneGone = refusal.timestamp }
    } else {
      let least: Duration = refusal.status >= 500 ? .seconds(5) : .seconds(2)
      self.init(kind: .again(atLeast: refusal.retryAfter ?? least), reason: reason)
    }
  }

  private init(kind: Kind, reason: LedgerReason? = nil) {
    self.kind = kind
    self.reason = reason
  }
}

extension PushOutcome {
  /// The ledger's reason for this outcome, or `accepted`.
  package var reason: String { Verdict(self).reason?.text ?? "accepted" }
}
