/// The life of one card: what it is to be told now, and when it is to be looked at again.
///
/// Without an end it is told what changed, at most once in `min-interval`; at once where the rule
/// calls an event urgent; and, where nothing changes, the same again before it is stale.
struct CardStateMachine {
  let life: LiveActivity
  let now: Timestamp
  var memo: CardMemo
  /// Events whose alert is not said any more: another has taken its place.
  private(set) var silenced: [RideEvent] = []

  /// What a card is to be told.
  struct CardUpdate: Equatable {
    var event: CardEvent
    /// What the ledger says that it tells of.
    var cause: RideEvent
    var isUrgent = false
  }

  /// A card that was looked at before.
  init(_ life: LiveActivity, _ memo: CardMemo, now: Timestamp) {
    self.life = life
    self.now = now
    self.memo = memo
  }

  init(_ life: LiveActivity, _ card: Card, _ memo: CardMemo?, now: Timestamp) {
    self.life = life
    self.now = now
    self.memo = memo ?? CardMemo(of: card, now: now)
    self.memo.follow(now, freshness: life.freshness)
    if self.memo.token != CardMemo.suffix(of: card) {
      // What the old token was sent may never have come.
      self.memo.token = CardMemo.suffix(of: card)
      self.memo.shown = nil
      self.memo.sentAt = nil
      self.memo.retryAt = nil
      self.memo.isRefused = false
    }
  }

  /// Takes note of what happened to the ride.
  mutating func handle(_ events: [RideEvent], isState: (String) -> Bool) {
    for event in events {
      memo.heardAt = max(memo.heardAt, event.at)
      let isAloud = life.alerts[event.name] != nil
      if life.speaks(on: event.name) || isState(event.name) {
        memo.cause = event
        memo.isUrgent = memo.isUrgent || life.urgent.contains(event.name)
      } else if memo.cause.map({ !life.speaks(on: $0.name) && !isState($0.name) }) ?? true {
        memo.cause = event
      }
      // "Your driver is here" is no news once the ride has begun.
      if isAloud || isState(event.name) {
        if let old = memo.alert { silenced.append(old) }
        memo.alert = isAloud ? event : nil
      }
    }
  }

  /// The ride is over, or the card's time is: from now on it can only end.
  mutating func end(at instant: Timestamp) {
    if memo.endsAt == nil { memo.endsAt = instant }
  }

  /// Why its time is over though the ride is not.
  var farewell: (at: Timestamp, reason: LedgerReason)? {
    if let limit = life.silenceLimit, now >= memo.heardAt + limit {
      return (
        memo.heardAt + limit,
        LedgerReason(.rideSilent, "nothing was heard of the ride for \(limit.rideText)")
      )
    }
    guard let tooOldAt, now >= tooOldAt else { return nil }
    return (tooOldAt, LedgerReason(.cardTooOld, "iOS ends a card after eight hours"))
  }

  /// When a card is ended for its age.
  private var tooOldAt: Timestamp? {
    life.broadcast == nil ? memo.since + LiveActivity.ageLimit : nil
  }

  /// It could not be on a screen any more.
  var isPastScreen: Bool {
    guard let endsAt = memo.endsAt else { return false }
    // Of those who watch a channel some may have begun just before its end.
    let lastSeen = life.broadcast == nil ? memo.since : endsAt
    return now >= lastSeen + LiveActivity.screenLimit
  }

  /// What to send now, where that is anything.
  ///
  /// - Parameter shown: the fingerprint of what the card should show; nil where that can't be said.
  mutating func update(_ shown: String?) -> CardUpdate? {
    if let retryAt = memo.retryAt, retryAt > now { return nil }
    if let endsAt = memo.endsAt {
      if memo.isRefused { return nil }
      return CardUpdate(
        event: .end, cause: memo.cause ?? RideEvent(id: 0, name: "end", at: endsAt), isUrgent: true)
    }
    guard let shown else { return nil }
    let isNews = shown != memo.shown || memo.alert != nil
    if !isNews {
      memo.cause = nil
      memo.isUrgent = false
    }
    if isNews, memo.isUrgent || foldedUntil <= now {
      return CardUpdate(event: .update, cause: memo.cause ?? refreshEvent, isUrgent: memo.isUrgent)
    }
    if !isNews, let refreshAt, refreshAt <= now {
      return CardUpdate(event: .update, cause: refreshEvent)
    }
    return nil
  }

  /// When to look again, nothing being sent; nil where only an event can change anything.
  func due(_ shown: String?) -> Timestamp? {
    if let retryAt = memo.retryAt, retryAt > now { return retryAt }
    if memo.endsAt != nil { return nil }
    var dues = [life.silenceLimit.map { memo.heardAt + $0 }, tooOldAt]
    if let shown {
      let isNews = shown != memo.shown || memo.alert != nil
      dues.append(isNews ? foldedUntil : refreshAt)
    }
    return dues.compactMap { $0 }.min()
  }

  /// Until when changes wait for those that may follow them.
  private var foldedUntil: Timestamp { memo.sentAt.map { $0 + life.minInterval } ?? now }

  private var refreshAt: Timestamp? {
    memo.isRefused ? nil : memo.staleAt.map { life.refresh(before: $0) }
  }

  private var refreshEvent: RideEvent { RideEvent(id: 0, name: "refresh", at: now) }
}

extension CardStateMachine {
  /// The priority of a push now, and what is to be said of it.
  ///
  /// Beyond the budget iOS would throttle a card without a word; at priority 5 it does not count.
  mutating func priority(_ update: CardUpdate, frequent: Bool) -> (
    priority: PushPriority, note: LedgerReason?
  ) {
    memo.urgentAt.removeAll { $0 <= now.epochSeconds - 3600 }
    guard update.isUrgent else { return (.powerAware, nil) }
    let limit = life.urgentLimit(frequent: frequent)
    if memo.urgentAt.count < limit { return (.immediate, nil) }
    return (
      .powerAware,
      LedgerReason(
        .overBudget, "priority 5: the card had \(limit) urgent pushes in an hour")
    )
  }

  /// The `timestamp` of a push now: higher than every earlier one of this card.
  mutating func stamp() -> Int64 {
    memo.timestamp = max(now.epochSeconds, memo.timestamp.addingSaturating(1))
    memo.sentAt = now
    return memo.timestamp
  }
}
