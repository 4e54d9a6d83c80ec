import Base
import RideCore

// What an Android phone does with a message: the system draws it, or the app as clients/kotlin does.
extension Screen {
  mutating func arriveOnAndroid(_ push: ScreenPush) -> PushFate {
    let message = push.payload["message"]
    let data = message?["data"]
    if data?["rp_kind"]?.string == "card" { return arriveAsCard(push, data) }
    let shown = push.readable
    guard let drawing = shown.android?.drawing else { return .unseen }
    let identity: String
    switch drawing {
    case .system:
      setBadge(shown.badge)
      identity = message?.value(at: ["android", "notification", "tag"])?.string ?? push.id
    case .app:
      let id = data?["rp_id"]?.string ?? push.id
      if let end = data.time("rp_until"), end <= now { return .ignored("it is not valid any more") }
      guard drawnIDs.insert(id).inserted else { return .ignored("the app has shown it") }
      identity = data?["rp_tag"]?.string ?? id
    }
    let attention = Attention.ofAlert(
      channel: shown.android?.channel, hasSound: shown.sound != nil, inFocus: hasFocus)
    show(notification(shown, identity, thread: data?["rp_group"]?.string, attention, push))
    return .shown(attention)
  }

  private mutating func arriveAsCard(_ push: ScreenPush, _ data: JSONValue?) -> PushFate {
    guard let name = data?["rp_card"]?.string,
      let timestamp = (data?["rp_ts"]?.string).flatMap({ Int64($0) })
    else { return .ignored("it names no card, or has no time") }
    let event = data?["rp_event"]?.string
    let known = knownCards[name]
    if let known, timestamp <= known.timestamp { return .ignored("the card shows something newer") }
    let run = (data?["rp_run"]?.string).flatMap { Int64($0) } ?? 0
    if let known, known.isOver, event != "start", run <= known.run {
      return .ignored("the card has ended")
    }
    let isEnd = event == "end"
    knownCards[name] = CardMemory(timestamp: timestamp, isOver: isEnd, run: run)
    if isEnd, known == nil { return .ignored("the phone has no such card") }
    // Each message has the whole card, also after the start was lost or the phone removed it.
    var card = cards.first { $0.name == name } ?? ScreenCard(name, at: now)
    if !isEnd { card.endedAt = nil }
    let state = (data?["rp_state"]?.string).flatMap { JSONValue(json: $0.utf8) }
    card.show(state, staleAt: isEnd ? nil : data.time("rp_stale_at"), at: now)
    if let look = (data?["rp_look"]?.string).flatMap({ JSONValue(json: $0.utf8) }) {
      card.look = look
    }
    card.isKnown = push.hasContent
    card.goneAt = data.time("rp_gone_at")
    if isEnd { card.endedAt = now }
    cards.removeAll { $0.name == name }
    cards.append(card)
    advanceCards()
    let alerts = data?["rp_alert"]?.string == "1"
    // The channel of cards has a sound, which the app turns off for each message without an alert.
    return .shown(alerts ? .ofAlert(channel: nil, hasSound: true, inFocus: hasFocus) : .silent)
  }
}

extension Optional<JSONValue> {
  /// Seconds since 1970, as a text.
  fileprivate func time(_ key: String) -> Timestamp? {
    (self?[key]?.string).flatMap { Int64($0) }.map(Timestamp.init(epochSeconds:))
  }
}
