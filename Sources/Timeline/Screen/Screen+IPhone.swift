package import Base
import RideCore

// What an iPhone does with a push.
extension Screen {
  mutating func arriveOnIPhone(_ push: ScreenPush) -> PushFate {
    guard let aps = push.payload["aps"] else {
      return push.type == .location ? .unseen : .ignored("it has no aps")
    }
    if push.type == .liveactivity { return arrive(push, aps) }
    let shown = push.readable
    setBadge(shown.badge)
    guard shown.isAlert else { return .unseen }
    let attention = Attention.ofAlert(
      level: shown.level, hasSound: shown.sound != nil, inFocus: hasFocus)
    // A sound alone is heard, and leaves nothing to be seen.
    if shown.hasText {
      show(
        notification(
          shown, push.collapseID ?? push.id, thread: aps["thread-id"]?.string, attention, push))
    }
    return .shown(attention)
  }

  /// The app starts a card by itself; its first push brings the content.
  package mutating func startCard(_ name: String, at instant: Timestamp) {
    advance(to: instant)
    cards.append(ScreenCard(name, at: now))
    knownCards[name] = CardMemory(timestamp: .min)
  }

  /// A person removes a card; what is sent to it later finds none.
  mutating func removeCard(_ name: String, at instant: Timestamp) {
    advance(to: instant)
    cards.removeAll { $0.name == name }
  }

  private mutating func arrive(_ push: ScreenPush, _ aps: JSONValue) -> PushFate {
    guard let name = push.card, case .integer(let timestamp)? = aps["timestamp"] else {
      return .ignored("it names no card, or has no timestamp")
    }
    switch aps["event"]?.string {
    case "start":
      // A second start shows a second card.
      startCard(name, at: now)
    case "update", "end":
      // A channel reaches only who subscribes to it, and so has a card.
      if case .broadcast = push.storage, knownCards[name] == nil { startCard(name, at: now) }
    default: return .ignored("its event is not start, update or end")
    }
    guard let index = cards.lastIndex(where: { $0.name == name && !$0.isEnded }) else {
      return .ignored(knownCards[name] == nil ? "the phone has no such card" : "the card has ended")
    }
    return change(index, by: push, aps, timestamp)
  }

  private mutating func change(
    _ index: Int, by push: ScreenPush, _ aps: JSONValue, _ timestamp: Int64
  ) -> PushFate {
    let isEnd = aps["event"]?.string == "end"
    let isNewer = cards[index].timestamp.map { timestamp > $0 } ?? true
    // Apple does not say what an equal timestamp does: here the card stays as it is.
    guard isNewer || isEnd else { return .ignored("the card shows something newer") }
    // An end without content leaves what the card shows.
    let staleAt = isEnd ? nil : aps.time("stale-date")
    cards[index].show(isNewer ? aps["content-state"] : nil, staleAt: staleAt, at: now)
    if isNewer {
      cards[index].timestamp = timestamp
      cards[index].isKnown = push.hasContent
    }
    if isEnd {
      cards[index].end(at: now, dismissal: aps.time("dismissal-date"))
      advanceCards()
    }
    guard aps["alert"] != nil else { return .shown(.silent) }
    let shown = push.readable
    return .shown(
      .ofAlert(level: shown.level, hasSound: shown.sound != nil, inFocus: hasFocus))
  }

  /// Measures cards before anything changes.
  mutating func recordStaleness() {
    guard isOnline else { return }
    for card in cards where card.isStale(at: now) {
      // Until it ends or goes, which may have been in between.
      let end = min(now, card.goneAt ?? now, platform == .ios ? card.lastEnd : now)
      longestStale = max(longestStale, end - max(card.staleAt ?? end, onlineSince))
    }
  }

  /// Ends cards that are too old, and removes those whose time has come.
  mutating func advanceCards() {
    for index in cards.indices where platform == .ios && !cards[index].isEnded {
      let end = cards[index].lastEnd
      if end <= now { cards[index].end(at: end, dismissal: nil) }
    }
    cards.removeAll { card in card.goneAt.map { $0 <= now } ?? false }
  }
}

extension JSONValue {
  fileprivate func time(_ key: String) -> Timestamp? {
    guard case .integer(let seconds)? = self[key] else { return nil }
    return Timestamp(epochSeconds: seconds)
  }
}
