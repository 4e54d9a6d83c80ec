// Broadcast cards: a ride has one channel, which is followed like any card. Creating a channel
// takes a request to APNs, so a decision can only state that one is needed; it repeats this until
// there is one.
extension Decider {
  mutating func broadcast(
    _ rule: CardRule, _ rendered: RenderedCard, _ context: TemplateContext?,
    _ storage: ChannelStorage
  ) {
    turnAwayTokens(rule)
    let app = rule.rule.rule.app
    let channel = decision.view.channels.last {
      $0.app == app && $0.environment == configuration.defaultEnvironment
    }
    if let card = channel.flatMap({ Card(of: $0) }) {
      return follow(card, of: rule, rendered, context)
    }
    guard context != nil, needsChannel(rule), isOver(rule) == nil else { return }
    if let channel {
      notify(of: channel, rule)
      if channel.nextAsk > now { return look(again: channel.nextAsk) }
    }
    decision.needs.append(ChannelNeed(app: app, storage: storage))
    look(again: now + ChannelRow.longestCall)
  }

  /// Returns whether the ride is in a state in which its rule wants a channel.
  func needsChannel(_ rule: CardRule) -> Bool {
    guard decision.isActive, let state = decision.view.ride?.state else { return false }
    return rule.life.broadcastStates.isEmpty || rule.life.broadcastStates.contains(state)
  }

  /// Records why a ride has no channel, once for each time that APNs refused one.
  private mutating func notify(of channel: RideChannel, _ rule: CardRule) {
    guard case .refused(let reason) = channel.standing,
      news.contains(where: { $0.name == RideChannel.failure })
    else { return }
    let event = RideEvent(id: 0, name: RideChannel.failure, at: channel.createdAt)
    var entry = draft(rule.rule, event)
    entry.id = PushID(
      of: "channel", decision.view.rideID.text, rule.rule.rule.name, "\(channel.id)")
    let words = BroadcastReason.of(reason).map { ": \($0.meaning); \($0.advice)" } ?? ""
    close(entry, .suppressed, LedgerReason(.noChannel, "no channel: \(reason)\(words)"))
  }

  /// Records cards that the app registered with update tokens although the rule broadcasts.
  private mutating func turnAwayTokens(_ rule: CardRule) {
    for card in decision.view.cards where card.app == rule.rule.rule.app && !card.isGone {
      let memo = decision.view.memo.cards[card.id]
      var machine = CardStateMachine(rule.life, card, memo, now: now)
      complain(
        &machine, .suppressed,
        LedgerReason(
          .ruleBroadcasts, "the rule broadcasts: the app is to listen to the ride's channel"),
        rule, card)
      decision.cards[card.id] = machine.memo
    }
  }
}

extension RideChannel {
  /// The event that a ride gets when APNs refuses it a channel.
  static let failure = "channel_refused"
}
