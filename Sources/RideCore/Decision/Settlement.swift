/// What is to be written once a decision's pushes have ended.
package struct Settlement: Hashable, Sendable {
  /// The ride.
  package var rideID: RideID
  /// The events that are consumed by it.
  package var consumed: [Int64]
  /// Ledger rows, new and changed.
  package var entries: [LedgerEntry]
  /// Tokens that are of no more use.
  package var gone: [TokenInvalidation]
  /// What was found out about phones.
  package var findings: [PhoneObservation] = []
  /// Broadcast channels that the ride needs: said again until it has them.
  package var needs: [ChannelNeed] = []
  /// What the next decision will need.
  package var memo: Memo
  /// What became of slots that were due, by rule.
  package var tallies: [String: SlotTally]
  /// When the ride needs attention again; nil: with its next event.
  package var nextDue: Timestamp?
  /// Whether the ride leaves the agenda.
  package var isOver: Bool
}

/// A token that is of no more use: APNs no longer knows it, or the card that it is of has ended.
package struct TokenInvalidation: Hashable, Sendable {
  /// What a token reaches.
  package enum Kind: String, Hashable, Sendable {
    /// A phone: `Phone.id`.
    case phone
    /// A card: `Card.id`.
    case activity
    /// A phone that a card can be started on: `StartToken.id`.
    case start
    /// Everybody who watches a ride's channel: `RideChannel.id`.
    case channel
  }

  /// What it reaches.
  package var kind: Kind
  /// The row's ID.
  package var id: Int64
  /// Since when, as APNs learned it; a later registration outweighs it. Nil: whatever was
  /// registered since.
  package var since: Timestamp?
  /// Apple's reason, or `ended`.
  package var reason: String
}

extension TokenInvalidation {
  /// What a card's pushes are sent to: its phone's token, or the channel that stands in for one.
  static func ofCard(_ id: Int64, since: Timestamp?, reason: String) -> TokenInvalidation {
    TokenInvalidation(
      kind: id < 0 ? .channel : .activity, id: abs(id), since: since, reason: reason)
  }
}

extension Decision {
  /// The decision's end, once each of its pushes has an outcome.
  ///
  /// - Parameters:
  ///   - outcomes: What became of `pushes`, in their order.
  ///   - jitter: For each push a number from 0 up to 1 that spreads retries.
  ///   - now: The database's time, as far as the caller knows it.
  package func settled(
    _ outcomes: [PushOutcome], now: Timestamp, jitter: () -> Double
  ) -> Settlement {
    var settlement = Settlement(
      rideID: view.rideID, consumed: consumed, entries: closed, gone: gone, memo: Memo(),
      tallies: tallies, nextDue: nil, isOver: false)
    settlement.memo.slots = slots
    settlement.memo.cards = cards
    settlement.memo.starts = starts
    settlement.memo.part = part
    settlement.needs = needs
    var dues = [nextSlot, nextCard].compactMap { $0 }
    var announced: [RideEvent: Set<App>] = [:]
    var queue = RetryQueue(waiting, now: now)
    settlement.entries += postponed.map { queue.keep($0) }
    for (push, outcome) in zip(pushes, outcomes) {
      if let step = push.step {
        let due = settlement.record(push, step, outcome, now: now, jitter: jitter)
        if let due { dues.append(due) }
        if let alert = step.alert, outcome == .accepted {
          announced[alert, default: []].insert(push.entry.app)
        }
      } else {
        settlement.record(push, outcome, &queue, jitter: jitter)
      }
    }
    settlement.memo.retries = queue.retries
    for (event, apps) in announced {
      for app in apps { settlement.memo.part?.shown[app.rawValue, default: []].append(event.id) }
    }
    settlement.settle(held, view, announced: announced, nextCard: nextCard, now: now)
    if view.phones.contains(where: { $0.problem?.probe != nil }) {
      settlement.releaseProbes(of: view)
    }
    // The rest of a look follows at once, and after its last part what parts leave aside.
    if part != nil || view.memo.part != nil || view.hasMoreEvents { dues.append(now) }
    settlement.nextDue = (settlement.memo.retries.map(\.due) + dues).min()
    settlement.isOver = !isActive && settlement.nextDue == nil
    return settlement
  }
}

/// The pushes of a ride that go again.
struct RetryQueue {
  private(set) var retries: [PendingPush]
  let now: Timestamp
  private var budget: MemoBudget
  /// When the push that is tried again goes, for each phone: those behind it go with it.
  private var heldUntil: [Int64: Timestamp] = [:]

  init(_ retries: [PendingPush], now: Timestamp) {
    self.retries = retries
    self.now = now
    budget = MemoBudget(retries)
  }

  /// Keeps a push that was postponed; returns its row, which says so if the memo has no room.
  mutating func keep(_ pending: PendingPush) -> LedgerEntry {
    var entry = pending.entry
    if let reason = budget.admit(entry.event) {
      entry.end(.suppressed, reason)
    } else {
      retries.append(pending)
    }
    return entry
  }

  /// Keeps a push for another attempt; ends it if the memo has no room.
  mutating func keep(_ entry: inout LedgerEntry, of push: PlannedPush, until due: Timestamp) {
    if let reason = budget.admit(entry.event) { return entry.end(.suppressed, reason) }
    entry.status = .pending
    retries.append(PendingPush(entry: entry, due: due, image: push.image))
    if let phone = entry.phone { heldUntil[phone] = due }
  }

  /// Keeps a push that was not tried: it goes with the one that it waits for, or at once.
  mutating func handBack(_ entry: inout LedgerEntry, of push: PlannedPush) {
    keep(&entry, of: push, until: entry.phone.flatMap { heldUntil[$0] } ?? now)
  }
}

extension Settlement {
  fileprivate mutating func record(
    _ push: PlannedPush, _ outcome: PushOutcome, _ queue: inout RetryQueue, jitter: () -> Double
  ) {
    var entry = push.entry
    // What a stop cut off, or an earlier push held back, was not tried.
    if outcome == .unsent(.closed) || outcome == .unsent(.heldBack) {
      queue.handBack(&entry, of: push)
      return entries.append(entry)
    }
    var verdict = Verdict(outcome)
    if push.mayProbe, outcome.isBadDeviceToken { verdict.kind = .again(atLeast: .zero) }
    if verdict.wasTried { entry.attempts = entry.attempts.addingSaturating(1) }
    entry.reason = verdict.reason
    switch verdict.kind {
    case .accepted: entry.status = .accepted
    case .rejected: entry.status = .rejected
    case .again where entry.startToken != nil && verdict.mayHaveArrived:
      entry.status = .uncertain
    case .again(let least):
      if verdict.mayHaveArrived { entry.doubt = .unanswered }
      let delay = retryBackoff.delay(failures: push.entry.attempts, random: jitter())
      let due = queue.now + least + delay
      if due < push.validUntil {
        queue.keep(&entry, of: push, until: due)
      } else {
        entry.end(.expired, verdict.reason ?? .validUntil(push.validUntil))
      }
    }
    entries.append(entry)
    examine(push, outcome, verdict, goesAgain: entry.status == .pending, now: queue.now)
    if let start = entry.startToken {
      record(start: start, entry, verdict)
    } else if let since = verdict.phoneGone, let phone = entry.phone {
      gone.append(
        TokenInvalidation(kind: .phone, id: phone, since: since, reason: verdict.reason?.text ?? "")
      )
    }
  }
}

extension PlannedPush {
  /// Whether an outcome leaves nothing to try again: later pushes to the phone may go.
  package func isSettled(by outcome: PushOutcome) -> Bool {
    if mayProbe, outcome.isBadDeviceToken { return false }
    if case .again = Verdict(outcome).kind { return false }
    return true
  }
}

/// How long a push waits before it goes again: up to 1 s, 2 s, 4 s … 60 s, on top of the least.
let retryBackoff = Backoff(first: .seconds(1), longest: .seconds(60))
