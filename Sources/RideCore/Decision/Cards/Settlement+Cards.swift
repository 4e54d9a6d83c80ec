// What the outcomes of a ride's pushes mean for its cards.
extension Settlement {
  /// Records the outcome of a push to a card; returns when the card needs attention again.
  mutating func record(
    _ push: PlannedPush, _ step: CardStep, _ outcome: PushOutcome, now: Timestamp,
    jitter: () -> Double
  ) -> Timestamp? {
    guard var card = memo.cards[step.card] else { return nil }
    var entry = push.entry
    let verdict = Verdict(outcome)
    if verdict.wasTried { entry.attempts = entry.attempts.addingSaturating(1) }
    entry.reason = verdict.reason ?? push.acceptedReason
    if step.priority == .immediate, verdict.mayHaveArrived {
      card.urgentAt.append(now.epochSeconds)
    }
    switch verdict.kind {
    case .accepted:
      entry.status = .accepted
      card.settle(step)
      card.isRefused = false
      if step.event == .end {
        invalidations.append(.ofCard(step.card, since: nil, reason: "ended"))
      }
    case .rejected:
      entry.status = .rejected
      card.settle(step)
      card.isRefused = true
      if verdict.phoneGone != nil || verdict.isGone && step.isBroadcast {
        invalidations.append(
          .ofCard(step.card, since: verdict.phoneGone, reason: verdict.reason?.text ?? ""))
      }
    case .again(let least):
      let delay = retryDelay(failures: card.failures, least: least, outcome, jitter)
      entry.status = .pending
      card.isPending = true
      card.subject = entry.event
      card.failures = card.failures.addingSaturating(verdict.wasTried ? 1 : 0)
      // A push that can't have arrived does not delay later changes.
      if !verdict.mayHaveArrived { card.sentAt = nil }
      card.retryAt = now + delay
    }
    entries.append(entry)
    memo.cards[step.card] = card
    // A ride whose channel is gone needs another one.
    if verdict.isGone, step.isBroadcast { return now }
    if verdict.phoneGone != nil { return nil }
    if let retryAt = card.retryAt { return retryAt }
    return CardStateMachine(step.life, card, now: now).due(card.shown)
  }

  private func retryDelay(
    failures: Int, least: Duration, _ outcome: PushOutcome, _ jitter: () -> Double
  ) -> Duration {
    // A push that a stop cut off was not tried: the next claim of the ride sends it at once.
    if outcome == .unsent(.closed) { return .zero }
    return least + retryBackoff.delay(failures: failures, random: jitter())
  }

  /// Records the outcome of a start, which never goes again if it may have arrived.
  mutating func record(start id: Int64, _ entry: LedgerEntry, _ verdict: Verdict) {
    memo.starts[id]?.entry = entry
    memo.starts[id]?.isOpen = false
    if entry.status == .rejected {
      memo.starts[id] = nil
      if let since = verdict.phoneGone {
        invalidations.append(
          TokenInvalidation(kind: .start, id: id, since: since, reason: entry.reason?.text ?? ""))
      }
    }
  }

  /// Settles the alerts that a card was to show.
  ///
  /// An alert that its card showed is closed. Any other waits for the card's next attempt, and is
  /// sent if the card can't be reached, unless a newer push has taken its place on the screen: then
  /// neither it nor the card shows the alert any more.
  mutating func settle(
    _ held: [HeldAlert], _ view: RideView, announced: [RideEvent: Set<App>],
    _ places: CollapseIndex, nextCard: Timestamp?, now: Timestamp
  ) {
    let cards = Dictionary(grouping: view.cards) { Owner(app: $0.app, id: $0.ownerID) }
    for alert in held {
      var entry = alert.entry
      if announced[entry.event]?.contains(entry.app) == true {
        entries.append(entry)
        continue
      }
      if supersede(&entry, places, view) {
        entries.append(entry)
        continue
      }
      let shown = cards[Owner(app: entry.app, id: alert.owner)] ?? []
      let memos = shown.compactMap { memo.cards[$0.target] }.filter { $0.alert == entry.event }
      // A card that was not sent now is evaluated again with the next card, and its alert with it.
      let dues: [Timestamp] = memos.compactMap { card in
        if let retryAt = card.retryAt, retryAt > now { retryAt } else { nextCard }
      }
      entry.status = .pending
      entry.reason = nil
      var pending = PendingPush(entry: entry, due: dues.min() ?? now)
      pending.waitsForCard = true
      memo.retries.append(pending)
      entries.append(entry)
    }
    var left: [PendingPush] = []
    for pending in memo.retries {
      var entry = pending.entry
      if pending.waitsForCard != true {
        left.append(pending)
      } else if announced[entry.event]?.contains(entry.app) == true {
        entry.status = .suppressed
        entry.reason = .coveredByCard
        entries.append(entry)
      } else if supersede(&entry, places, view) {
        entries.append(entry)
      } else {
        left.append(pending)
      }
    }
    memo.retries = left
  }

  /// Ends an alert that waits for a card if a push of this decision is newer, and the card's alert
  /// with it; false if there is none.
  private mutating func supersede(
    _ entry: inout LedgerEntry, _ places: CollapseIndex, _ view: RideView
  ) -> Bool {
    guard let newer = places.successor(of: entry) else { return false }
    entry.end(.superseded, .superseded(by: newer.name))
    for card in view.cards where card.app == entry.app && card.ownerID == entry.owner {
      if memo.cards[card.target]?.alert == entry.event { memo.cards[card.target]?.alert = nil }
    }
    return true
  }
}

private struct Owner: Hashable {
  var app: App
  var id: OwnerID
}

extension CardMemo {
  /// Applies a final answer of APNs: nothing of the push is left to deliver.
  fileprivate mutating func settle(_ step: CardStep) {
    shown = step.shown
    staleAt = step.staleAt
    number = number.addingSaturating(1)
    failures = 0
    isPending = false
    subject = nil
    retryAt = nil
    cause = nil
    isUrgent = false
    alert = nil
    complaint = nil
  }
}
