// When cards are started by push: on an event of `start`, or later because of `from` or `if`, or once
// the card before has ended.

import Base
extension Decider {
  /// Returns the time before which a rule has no card; nil if there is none.
  func opening(of rule: CardRule) throws(RenderingError) -> Timestamp? {
    guard let from = rule.life.from else { return nil }
    return try decision.view.ride?.time(from.time, attributes: attributes).map { $0 + from.offset }
  }

  /// Starts the cards of a rule on a new event, or on one whose cards are still to be started.
  mutating func startCards(of rule: CardRule, _ rendered: RenderedCard) {
    let new = newEvents.last { rule.life.start.contains($0.name) }
    guard var event = new ?? decision.view.memo.awaitedStarts[rule.name] else { return }
    var entry = draft(rule.rule, event)
    entry.cardEvent = .start
    // Without a new event, it ended while the start waited.
    if new == nil, rideEnd(rule) != nil {
      // Otherwise its row has the reason of `if`.
      if conditions[rule.name]?.complaint == nil { close(entry, .suppressed, .rideOverAlready) }
      return
    }
    var opening: Timestamp?
    do throws(RenderingError) {
      opening = try self.opening(of: rule)
    } catch {
      return close(entry, .suppressed, error.ledgerReason)
    }
    if rideEnd(rule) == nil {
      if let opening, opening > now {
        if new != nil { close(entry, .suppressed, .startsLater(opening)) }
        decision.settlement.memo.awaitedStarts[rule.name] = event
        return scheduleCards(at: opening)
      }
      if isEnding(rule) {
        // On Android the next card replaces the one before.
        let isBlocked =
          hasAndroid && rule.rule.conditionScope == .event
          && startCondition(rule, event, of: nil) != nil
        if !isBlocked { beginRun(of: rule, on: event) }
        decision.settlement.memo.awaitedStarts[rule.name] = event
        return
      }
    }
    if isStartBlocked(rule, on: event, entry, isNew: new != nil) { return }
    beginRun(of: rule, on: event)
    if new == nil {
      // What waited is as new as if it happened at its time, or now if only a change of the ride
      // showed that this had come.
      let due = max(event.at, opening ?? now)
      event.at = now < due + rule.validity ? due : now
    }
    start(rule, on: event, rendered)
  }

  /// Returns whether a card of the rule can only end, and has not yet: a phone never shows two.
  private func isEnding(_ rule: CardRule) -> Bool {
    decision.view.cards.contains { card in
      card.app == rule.app && !card.isGone
        && decision.settlement.memo.cards[card.target]?.endsAt != nil
    }
  }
}

extension LedgerReason {
  static let rideOverAlready = LedgerReason(.rideOver, "the ride is over already")
}
