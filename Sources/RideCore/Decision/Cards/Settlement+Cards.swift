// What the outcomes of a ride's pushes mean for its cards.

import Base
extension Settlement {
  /// Records the outcome of a push to a card; returns when the card needs attention again.
  mutating func record(
    _ push: PlannedPush, _ step: CardStep, _ outcome: PushOutcome, isDoubtful: Bool,
    now: Timestamp, jitter: () -> Double
  ) -> Timestamp? {
    guard var card = memo.cards[step.card] else { return nil }
    var entry = push.entry
    let verdict = Verdict(outcome, over: push.network)
    if verdict.wasTried { entry.attempts = entry.attempts.addingSaturating(1) }
    entry.reason = verdict.reason ?? push.acceptedReason
    if step.priority == .immediate, verdict.mayHaveArrived {
      card.urgentAt.append(now.epochSeconds)
    }
    switch verdict.kind {
    case .accepted:
      entry.status = .accepted
      card.follow(step, isRefused: false)
      if step.card.isPhone {
        card.android?.isStarted = true
        card.android?.isOver = step.event == .end
      } else if step.event == .end {
        invalidations.append(.ofCard(step.card, since: nil, reason: "ended"))
        for id in step.endedStarts { memo.starts[id] = nil }
      }
    case .rejected:
      entry.status = .rejected
      card.follow(step, isRefused: true)
      if step.event == .end { card.android?.isOver = true }
      let isProven = !(isDoubtful && step.card.isPhone)
      if verdict.phoneGone != nil && isProven || verdict.isGone && step.isBroadcast {
        invalidations.append(
          .ofCard(step.card, since: verdict.phoneGone, reason: verdict.reason?.text ?? ""))
      }
    case .again(let least):
      let delay = retryDelay(failures: card.failures, least: least, outcome, jitter)
      entry.status = .pending
      card.isPending = true
      card.subject = entry.event
      card.failures = card.failures.addingSaturating(verdict.wasTried ? 1 : 0)
      // A push that can't have arrived does not delay later changes. After one that may have, the
      // card may show either.
      if !verdict.mayHaveArrived {
        card.sentAt = nil
      } else if card.shown != step.settled.memo.shown {
        card.shown = nil
      }
      card.retryAt = now + delay
    }
    entries.append(entry)
    memo.cards[step.card] = card
    examine(
      push, outcome, verdict, goesAgain: entry.status == .pending, isDoubtful: isDoubtful, now: now)
    if step.card.isPhone { return card.retryAt ?? due(card, step, now: now) }
    // A start that waits for the end of the card before can leave now.
    if step.event == .end, entry.status == .accepted, !memo.awaitedStarts.isEmpty { return now }
    // A ride whose channel is gone needs another one.
    if verdict.isGone, step.isBroadcast { return now }
    if verdict.phoneGone != nil { return nil }
    if let retryAt = card.retryAt { return retryAt }
    return due(card, step, now: now)
  }

  private func due(_ card: CardMemo, _ step: CardStep, now: Timestamp) -> Timestamp? {
    CardStateMachine(step.settled.life, card, now: now).due(card.shown)
  }

  private func retryDelay(
    failures: Int, least: Duration, _ outcome: PushOutcome, _ jitter: () -> Double
  ) -> Duration {
    // A push that a stop cut off, or that was handed back, was not tried: the next claim of the ride sends it at once.
    if outcome.isHandedBack { return .zero }
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

  /// Settles the alerts that cards were to show.
  ///
  /// An alert that its card showed is closed. Any other is sent at once, and the card does not show
  /// it later; only if the service stopped before it tried the card, both are tried again together.
  mutating func settle(
    _ covered: [(entry: LedgerEntry, by: Cover)], _ alerts: CardAlertOutcomes,
    _ collapseIndex: CollapseIndex, now: Timestamp
  ) {
    var shown: [LedgerEntry] = []
    for (alert, cover) in covered {
      var entry = alert
      if alerts.show(entry, cover) {
        shown.append(entry)
      } else if let newer = collapseIndex.successor(of: entry) {
        entry.end(.superseded, .superseded(by: newer.name))
        removeAlert(entry.event, from: cover.cards)
      } else {
        entry.status = .pending
        entry.reason = nil
        let isUntried = !alerts.untried.isDisjoint(with: cover.cards)
        if !isUntried { removeAlert(entry.event, from: cover.cards) }
        memo.waiting.append(
          WaitingItem(entry: entry, wait: isUntried ? .card(at: now) : .behind(until: now)))
      }
      entries.append(entry)
    }
    endEscalations(of: shown)
  }

  private mutating func removeAlert(_ event: RideEvent, from cards: [CardTarget]) {
    for card in cards where memo.cards[card]?.alert == event { memo.cards[card]?.alert = nil }
  }
}

/// What became known of the alerts in one decision's pushes to cards.
struct CardAlertOutcomes {
  /// The alert that each card shows.
  private(set) var shown: [CardTarget: RideEvent] = [:]
  /// The cards whose push APNs accepted.
  private(set) var accepted: Set<CardTarget> = []
  /// The starts that APNs accepted, by `StartToken.id`.
  private(set) var started: Set<Int64> = []
  /// Cards that were not tried, because the service stopped or handed their pushes back.
  private(set) var untried: Set<CardTarget> = []

  /// Returns whether one of the cards of an alert shows it.
  func show(_ alert: LedgerEntry, _ cover: Cover) -> Bool {
    cover.starts.contains(where: started.contains)
      || cover.cards.contains {
        cover.isSkipped ? accepted.contains($0) : shown[$0] == alert.event
      }
  }

  mutating func record(start id: Int64, _ outcome: PushOutcome) {
    if outcome == .accepted { started.insert(id) }
  }

  mutating func record(_ step: CardStep, _ outcome: PushOutcome) {
    if outcome == .accepted {
      shown[step.card] = step.alert
      accepted.insert(step.card)
    }
    if outcome.isHandedBack { untried.insert(step.card) }
  }
}
