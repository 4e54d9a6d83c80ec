// Broadcast cards: a ride has one channel, which is followed like any card. Creating a channel
// takes a request to APNs, so a decision can only state that one is needed; it repeats this until
// there is one.

import Base
extension Decider {
  mutating func broadcast(
    _ rule: CardRule, _ rendered: RenderedCard, _ context: TemplateContext?,
    _ storage: ChannelStorage
  ) {
    rejectUpdateTokens(rule)
    recordLackOfChannels(rule)
    let app = rule.app
    let channel = decision.view.channels.last {
      $0.app == app && $0.environment == configuration.defaultEnvironment
    }
    if let card = channel.flatMap({ Card(of: $0) }) {
      let memo = decision.view.memo.cards[card.target]
      return update(card, memo, of: rule, rendered, context)
    }
    guard context != nil, needsChannel(rule), rideEnd(rule) == nil else { return }
    if let channel {
      // The card of a ride without changes has ended: only a change of the ride starts another.
      if channel.standing == .over, !newEvents.contains(where: { !$0.isInternal }) { return }
      recordChannelRefusal(channel, rule)
      if channel.retryAt > now { return scheduleCards(at: channel.retryAt) }
    }
    decision.settlement.needs.append(ChannelNeed(app: app, storage: storage))
    scheduleCards(at: now + ChannelRow.longestCall)
  }

  /// Returns whether the ride is in a state in which its rule wants a channel.
  func needsChannel(_ rule: CardRule) -> Bool {
    guard decision.isActive, let state = decision.view.ride?.state else { return false }
    return rule.life.broadcastStates.isEmpty || rule.life.broadcastStates.contains(state)
  }

  /// Records why a ride has no channel, once for each time that APNs refused one.
  private mutating func recordChannelRefusal(_ channel: RideChannel, _ rule: CardRule) {
    guard case .refused(let reason) = channel.standing,
      newEvents.contains(where: { $0.name == InternalEvent.channelRefused.rawValue })
    else { return }
    let event = RideEvent(id: 0, name: InternalEvent.channelRefused.rawValue, at: channel.createdAt)
    var entry = draft(rule.rule, event)
    entry.id = PushID(
      of: "channel", decision.view.rideID.text, rule.name, "\(channel.id)")
    let words = ReasonExplanation.of(reason).map { ": \($0.meaning); \($0.advice)" } ?? ""
    close(entry, .suppressed, LedgerReason(.noChannel, "no channel: \(reason)\(words)"))
  }

  /// Records once for a ride that its Android phones show no card: FCM has no channels.
  private mutating func recordLackOfChannels(_ rule: CardRule) {
    guard hasAndroid, needsChannel(rule), let event = newEvents.last(where: { !$0.isInternal }),
      decision.settlement.memo.runs[rule.app.rawValue] == nil,
      decision.view.phones.contains(where: { $0.platform == .android && $0.app == rule.app })
    else { return }
    var run = CardRun(event: event, number: 0)
    run.event.people = nil
    run.endsAt = now
    decision.settlement.memo.runs[rule.app.rawValue] = run
    close(
      draft(rule.rule, event), .suppressed,
      LedgerReason(.appleOnly, "a card that broadcasts reaches iPhones only"))
  }

  /// Records cards that the app registered with update tokens although the rule broadcasts.
  private mutating func rejectUpdateTokens(_ rule: CardRule) {
    for card in decision.view.cards where card.app == rule.app && !card.isGone {
      let memo = decision.view.memo.cards[card.target]
      var machine = CardStateMachine(rule.life, card, memo, now: now)
      complain(
        &machine, .suppressed,
        LedgerReason(
          .ruleBroadcasts, "the rule broadcasts: the app must subscribe to the ride's channel"),
        rule, card)
      decision.settlement.memo.cards[card.target] = machine.memo
    }
  }
}
