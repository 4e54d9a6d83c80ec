package import Base

/// The result of `decide`: what to send for one ride now, and what to record.
package struct Decision: Sendable {
  /// The view that the decision is based on.
  package var view: RideView
  /// What is written once the pushes have ended; `settled` adds their outcomes.
  package var settlement: Settlement
  /// The pushes to send, in order.
  package var pushes: [PlannedPush] = []
  /// Everything else that fired or waited, each with its fate, in the order in which it was decided.
  package var items: [Item] = []
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
  /// The permits that pushes may have from earlier attempts, and whether the ride's previous holder may
  /// have used them.
  var formerPermits: [Permit: Bool] = [:]
  /// Whether the ride's state is one of the active ones.
  package var isActive: Bool

  /// Something that a rule fired and that does not leave now.
  package struct Item: Hashable, Sendable {
    package var entry: LedgerEntry
    package var fate: Fate

    /// Whether the phone shows no alerts, so that there is nothing to be seen, and nothing to wait for.
    var isUnseeable: Bool {
      fate == .ended && entry.status == .suppressed && entry.reason?.code == .engine(.alertsOff)
    }
  }

  package enum Fate: Hashable, Sendable {
    /// It is over: its ledger row is final.
    case ended
    /// It is over, and was kept from its owner on purpose: by its rule, by the owner's wish, or because
    /// a card shows it.
    case blocked
    /// Cards show it in its place, unless none of them can be reached.
    case covered(Cover)
    /// A later decision sends or ends it.
    ///
    /// - Parameter isNew: Whether its ledger row changes.
    case waits(Wait, image: RideImage?, isNew: Bool)
  }
}

extension Decision {
  /// What ends without being sent.
  package var ended: [LedgerEntry] { items.filter(\.isOver).map(\.entry) }

  /// Alerts that are left to cards, as their rows will be if the cards show them.
  package var covered: [LedgerEntry] {
    items.filter { $0.cover != nil }.map(\.entry)
  }

  /// What is not sent as long as cards can be reached, each with its reason.
  package var unsent: [LedgerEntry] { ended.filter { $0.status != .accepted } + covered }

  /// What this decision left for a later one.
  package var deferred: [WaitingItem] { items.compactMap { $0.waiting(isNew: true) } }

  /// What earlier decisions left and this one did not touch.
  package var kept: [WaitingItem] { items.compactMap { $0.waiting(isNew: false) } }

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
        memo.waiting.removeAll { $0.entry.startToken == id }
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

extension Decision.Item {
  /// The cards to which it is left; nil if it is not.
  var cover: Cover? { if case .covered(let cover) = fate { cover } else { nil } }

  var isOver: Bool { fate == .ended || fate == .blocked }

  func waiting(isNew: Bool) -> WaitingItem? {
    guard case .waits(let wait, let image, isNew) = fate else { return nil }
    return WaitingItem(entry: entry, wait: wait, image: image)
  }
}
