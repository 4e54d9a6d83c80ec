/// What follows from one outcome for the push and its phone.
struct Verdict: Equatable {
  enum Kind: Equatable {
    /// APNs took it.
    case accepted
    /// It will never be taken.
    case rejected
    /// It may go again after this long at the earliest.
    case again(atLeast: Duration)
  }

  var kind: Kind
  /// Why, for the ledger: Apple's word where Apple said one.
  var reason: LedgerReason?
  /// The phone is no longer there, as APNs learned then.
  var phoneGone: Timestamp?
  /// What it was sent to is no longer there, whoever says since when.
  var isGone = false
  /// APNs took it, or may have taken it: nobody knows.
  var mayHaveArrived = false
  /// It was handed to APNs, or to a network that did not bring it there.
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
    // Sent twice is safe: both carry the same apns-id and collapse on the screen.
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
  /// Why it ended so, in the ledger's text.
  package var reason: String { Verdict(self).reason?.text ?? "accepted" }
}
