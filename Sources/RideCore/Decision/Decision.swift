package import Base

/// The result of `decide`: what to send for one ride now, and what to record.
package struct Decision: Sendable {
  /// The view that the decision is based on.
  package var view: RideView
  /// What is written once the pushes have ended; `settled` adds their outcomes.
  package var settlement: Settlement
  /// The pushes to send, in order.
  package var pushes: [PlannedPush] = []
  /// Pushes that this decision ends without sending them, each with its reason.
  package var closed: [LedgerEntry] = []
  /// Alerts that a card shows in their place, unless the card can't be reached.
  package var held: [HeldAlert] = []
  /// Pushes of earlier decisions that still wait.
  package var waiting: [PendingPush] = []
  /// Pushes that this decision postponed without trying them.
  package var postponed: [PendingPush] = []
  /// What rules remembered when they fired, by `RuleFiring.key`.
  var fired: [String: String] = [:]
  /// The events that the ride's rules emitted lately, those of this decision included.
  var emitTally: EmitTally?
  /// The next slot at which a rule may fire.
  package var nextSlot: Timestamp?
  /// When a card that is sent nothing now needs attention again.
  package var nextCard: Timestamp?
  /// Permits that the planned pushes need, and that were not asked for before.
  package var permitRequests: [PermitRequest] = []
  /// The permits that count planned pushes, by the push.
  var permits: [PushID: Permit] = [:]
  /// The permits that pushes had whose earlier attempts failed.
  var formerPermits: [Permit] = []
  /// Whether the ride's state is one of the active ones.
  package var isActive = false

  init(view: RideView, revision: Int32?) {
    self.view = view
    settlement = Settlement(rideID: view.rideID, revision: revision)
  }

  /// Pushes that are not sent as long as cards can be reached, each with its reason.
  package var unsent: [LedgerEntry] { closed + held.map(\.entry) }

  /// Returns the memo that must be written before anything is sent; nil if none must be.
  ///
  /// A start or a call must not be sent twice, so the engine records it first. A card's timestamps must rise:
  /// the clock ensures that by itself, unless it was set back.
  package func journal(now: Timestamp) -> Memo? {
    var memo = view.memo
    for push in pushes {
      if let id = push.entry.startToken {
        memo.starts[id] = openStart(id)
        // The next holder that finds it open closes it as uncertain and does not retry it.
        memo.retries.removeAll { $0.entry.startToken == id }
      } else if push.mustNotRepeat {
        memo.unrepeatable.append(push.entry.id)
      } else if let step = push.step, step.timestamp > now.epochSeconds {
        memo.cards[step.card]?.timestamp = step.timestamp
      }
    }
    return memo == view.memo ? nil : memo
  }

  private func openStart(_ start: Int64) -> StartMemo? {
    var memo = settlement.memo.starts[start]
    memo?.isOpen = true
    return memo
  }
}
