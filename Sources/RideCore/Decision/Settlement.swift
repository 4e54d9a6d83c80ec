package import Base

/// What to write once a decision's pushes have ended.
package struct Settlement: Hashable, Sendable {
  package var rideID: RideID
  /// `Revision.id` of the configuration that its entries were decided with.
  package var revision: Int32?
  /// The events that it consumes.
  package var consumed: [EventKey] = []
  /// Ledger rows, new and changed.
  package var entries: [LedgerEntry] = []
  /// Tokens to invalidate.
  package var invalidations: [TokenInvalidation] = []
  /// What outcomes revealed about phones.
  package var observations: [PhoneObservation] = []
  /// Configuration mistakes that the pushes revealed; not written anywhere.
  package var mistakes: [ConfigurationMistake] = []
  /// Broadcast channels that the ride needs, repeated until it has them.
  package var needs: [ChannelNeed] = []
  /// Events of the ride that rules emit; the next decision handles them.
  package var emits: [EmittedEvent] = []
  /// Receipts that escalations awaited.
  package var ownersReceipts: [OwnersReceipt] = []
  /// The outcomes of permits.
  package var permits: [PermitOutcome] = []
  /// The memo for the next decision.
  package var memo = Memo()
  /// The outcomes of slots that were due, by rule name.
  package var tallies: [String: SlotTally] = [:]
  /// How often a rule's `if` was false at a change of the ride; only metrics count it.
  package var falseConditions: [String: Int] = [:]
  /// How often the ride changed outside of a rule's `while`; only metrics count it.
  package var outsideStates: [String: Int] = [:]
  /// When the ride needs attention again; nil means with its next event.
  package var nextDue: Timestamp?
  /// Whether the ride leaves the agenda.
  package var isOver = false
  /// What is recorded of the pass; nil for a ride that is not sampled.
  package var recorded: RecordedPass?

  package init(
    rideID: RideID, revision: Int32? = nil, consumed: [EventKey] = [],
    entries: [LedgerEntry] = [], isOver: Bool = false
  ) {
    self.rideID = rideID
    self.revision = revision
    self.consumed = consumed
    self.entries = entries
    self.isOver = isOver
  }
}

/// A receipt by which it is known that an owner's phones report receipts.
package struct OwnersReceipt: Hashable, Sendable {
  package var push: PushID
  package var owner: PhoneOwner
}

/// An event that a rule emits.
package struct EmittedEvent: Hashable, Sendable {
  package var name: String
  /// A JSON object: the data of the event that made the rule fire.
  package var data: String
  /// When it is emitted, as far as the caller can tell; the database records its own time.
  package var at: Timestamp
  /// The trace of the event that made the rule fire.
  package var trace: TraceParent?
}

extension Decision {
  /// Returns the settlement of this decision, once each of its pushes has an outcome.
  ///
  /// - Parameters:
  ///   - outcomes: The outcomes of `pushes`, in the same order.
  ///   - now: The database's time, as far as the caller can tell.
  ///   - doubtful: The lanes in which refusals of tokens may be due to the configuration.
  ///   - jitter: For each push a number from 0 up to 1 that spreads retries.
  package func settled(
    _ outcomes: [PushOutcome], now: Timestamp, doubtful: Set<PushLane> = [], jitter: () -> Double
  ) -> Settlement {
    var settlement = self.settlement
    settlement.entries = ended
    settlement.mistakes = settlement.entries.compactMap { ConfigurationMistake(unsent: $0) }
    var dues = [nextSlot, nextCard].compactMap { $0 }
    var alerts = CardAlertOutcomes()
    var queue = WaitingQueue(kept, now: now)
    settlement.entries += deferred.map { queue.keep($0) }
    // By index: a push would be copied out of the list.
    for (index, outcome) in zip(pushes.indices, outcomes) {
      let push = pushes[index]
      if let mistake = ConfigurationMistake(push, outcome) { settlement.mistakes.append(mistake) }
      let isDoubtful = !doubtful.isEmpty && doubtful.contains(push.lane)
      if let step = push.step {
        let due = settlement.record(
          push, step, outcome, isDoubtful: isDoubtful, now: now, jitter: jitter)
        if let due { dues.append(due) }
        alerts.record(step, outcome)
      } else {
        if let start = push.entry.startToken { alerts.record(start: start, outcome) }
        settlement.record(push, outcome, &queue, isDoubtful: isDoubtful, jitter: jitter)
      }
    }
    settlement.memo.waiting = queue.items
    settlement.permits = permitOutcomes(outcomes, waiting: queue.items)
    for (card, event) in alerts.shown {
      settlement.memo.part?.shown[card.rawValue, default: []].append(event.id)
    }
    let covered = items.compactMap { item in item.cover.map { (item.entry, $0) } }
    if !covered.isEmpty { settlement.settle(covered, alerts, CollapseIndex(pushes), now: now) }
    settlement.keepMemories(fired)
    if view.phones.contains(where: { $0.problem?.probe != nil }) {
      settlement.releaseProbes(of: view)
    }
    // The next part of a pass follows at once, and after the last part whatever the parts left
    // waiting.
    if self.settlement.memo.part != nil || view.memo.part != nil || view.hasMoreEvents
      || !self.settlement.emits.isEmpty
    {
      dues.append(now)
    }
    settlement.nextDue = (settlement.memo.waiting.map(\.due) + dues).min()
    settlement.keep(emitTally, now: now)
    settlement.isOver = !isActive && settlement.nextDue == nil
    if isTraced { settlement.memo.keep(traces) }
    return settlement
  }
}

/// What of a ride waits for a later decision.
struct WaitingQueue {
  private(set) var items: [WaitingItem]
  let now: Timestamp
  private var budget: MemoBudget
  /// When each recipient's next attempt is: what is behind it goes with it.
  private var attempts: [LedgerEntry.Recipient: Timestamp] = [:]

  init(_ items: [WaitingItem], now: Timestamp) {
    self.items = items
    self.now = now
    budget = MemoBudget(items)
  }

  /// Keeps an item that was deferred; returns its row, with the reason if the memo has no room.
  mutating func keep(_ item: WaitingItem) -> LedgerEntry {
    var entry = item.entry
    if let reason = budget.admit(entry.event) {
      entry.end(.suppressed, reason)
    } else {
      items.append(item)
    }
    return entry
  }

  /// Keeps a push that was tried, or is to be; ends it if the memo has no room.
  mutating func keep(_ entry: inout LedgerEntry, of push: PlannedPush, _ wait: Wait) {
    if let reason = budget.admit(entry.event) { return entry.end(.suppressed, reason) }
    entry.status = .pending
    items.append(WaitingItem(entry: entry, wait: wait, image: push.image))
    if let recipient = entry.recipient { attempts[recipient] = wait.due }
  }

  /// Keeps a push that was not tried: it goes with the one that it is behind, or at once.
  mutating func handBack(_ entry: inout LedgerEntry, of push: PlannedPush) {
    let due = entry.recipient.flatMap { attempts[$0] } ?? now
    keep(&entry, of: push, .behind(until: due))
  }
}

extension Settlement {
  fileprivate mutating func record(
    _ push: PlannedPush, _ outcome: PushOutcome, _ queue: inout WaitingQueue, isDoubtful: Bool,
    jitter: () -> Double
  ) {
    var entry = push.entry
    // Not tried: a stop cut it off, it is queued behind another, or its node handed it back.
    if outcome.isHandedBack || outcome == .unsent(.queuedBehind) {
      if case .unsent(let cause) = outcome, case .handedBack = cause {
        entry.reason = LedgerReason(cause)
      }
      queue.handBack(&entry, of: push)
      return entries.append(entry)
    }
    var verdict = Verdict(outcome, of: push)
    if push.mayProbe, outcome.isBadDeviceToken { verdict.kind = .again(atLeast: .zero) }
    if verdict.wasTried { entry.attempts = entry.attempts.addingSaturating(1) }
    entry.reason = verdict.reason ?? push.acceptedReason
    switch verdict.kind {
    case .accepted: entry.status = .accepted
    case .rejected: entry.status = .rejected
    case .again where push.isSentOnce && verdict.mayHaveArrived:
      entry.status = .uncertain
    case .again(let least):
      if verdict.mayHaveArrived { entry.doubt = .unanswered }
      let delay = retryBackoff.delay(failures: push.entry.attempts, random: jitter())
      let due = queue.now + least + delay
      if due < push.validUntil {
        queue.keep(&entry, of: push, .retry(at: due))
      } else {
        entry.end(.expired, verdict.reason ?? .validUntil(push.validUntil))
      }
    }
    entries.append(entry)
    examine(
      push, outcome, verdict, goesAgain: entry.status == .pending, isDoubtful: isDoubtful,
      now: queue.now)
    if let start = entry.startToken {
      record(start: start, entry, verdict)
    } else if let since = verdict.phoneGone, let phone = entry.phone,
      !isDoubtful || push.network != .android
    {
      invalidations.append(
        TokenInvalidation(kind: .phone, id: phone, since: since, reason: verdict.reason?.text ?? "")
      )
    }
  }
}

extension PlannedPush {
  /// Returns whether an outcome leaves nothing to retry, so that later pushes to the phone may go.
  package func isSettled(by outcome: PushOutcome) -> Bool {
    if mayProbe, outcome.isBadDeviceToken { return false }
    let verdict = Verdict(outcome)
    if case .again = verdict.kind { return isSentOnce && verdict.mayHaveArrived }
    return true
  }

  /// Whether it is not sent again once it may have arrived.
  fileprivate var isSentOnce: Bool { mustNotRepeat || entry.startToken != nil }
}

/// The wait before a retry: up to 1 s, 2 s, 4 s … 60 s, on top of the minimum.
let retryBackoff = Backoff(first: .seconds(1), longest: .seconds(60))

extension Settlement {
  /// Returns a settlement of a ride that does not exist, with rows for each table that settlements
  /// write.
  ///
  /// It tests whether any settlement can be written.
  package static func synthetic(ride: RideID, now: Timestamp, isOver: Bool) -> Settlement {
    let word = "settlement-check"
    let event = RideEvent(id: 0, name: word, at: now)
    let entries = [LedgerEntry.Status.accepted, .suppressed].map { status in
      var entry = LedgerEntry(
        id: PushID(of: word, ride.text, status.rawValue), event: event, rule: word, app: .customer,
        pushType: .alert, status: status, attempts: 1)
      entry.reason = LedgerReason(.settlementCheck, word)
      entry.collapseID = word
      entry.phone = 0
      entry.tokenSuffix = "000000"
      entry.priority = .immediate
      entry.expiration = now.epochSeconds
      entry.uniqueID = word
      return entry
    }
    var tally = SlotTally()
    tally.due = 1
    tally.fired = 1
    var settlement = Settlement(rideID: ride)
    settlement.consumed = [event.key]
    settlement.entries = entries
    settlement.invalidations = [
      TokenInvalidation(kind: .activity, id: 0, since: now, reason: word)
    ]
    settlement.tallies = [word: tally]
    settlement.nextDue = isOver ? nil : now
    settlement.isOver = isOver
    settlement.observations = [PhoneObservation(phone: 0, .good)]
    settlement.emits = [EmittedEvent(name: word, data: "{}", at: now)]
    settlement.ownersReceipts = [
      OwnersReceipt(push: PushID(of: word, ride.text), owner: PhoneOwner(.customer, OwnerID(word)))
    ]
    return settlement
  }
}
