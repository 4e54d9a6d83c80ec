import Base

/// The life of one card: what to send it now, and when it needs attention again.
///
/// Until it ends, a card is sent what changed, at most once in `min-interval`; at once if the rule
/// calls an event urgent; and, if nothing changes, the same content again before it is stale.
struct CardStateMachine: Hashable, Sendable {
  let life: LiveActivity
  let now: Timestamp
  var memo: CardMemo
  /// Events whose alert is not shown any more, because a later event replaced it.
  private(set) var replacedAlerts: [RideEvent] = []

  /// A push that a card is to be sent.
  struct CardUpdate: Equatable {
    var event: CardEvent
    /// The event in the push's ledger row.
    var cause: RideEvent
    var isUrgent = false
  }

  /// Creates the state machine of a card from its memo.
  init(_ life: LiveActivity, _ memo: CardMemo, now: Timestamp) {
    self.life = life
    self.now = now
    self.memo = memo
  }

  init(_ life: LiveActivity, _ card: Card, _ memo: CardMemo?, now: Timestamp) {
    self.life = life
    self.now = now
    self.memo = memo ?? CardMemo(of: card, now: now)
    self.memo.clampTimes(to: now, freshness: life.freshness)
    if self.memo.token != CardMemo.suffix(of: card) {
      // What was sent to the old token may never have arrived.
      self.memo.token = CardMemo.suffix(of: card)
      self.memo.shown = nil
      self.memo.sentAt = nil
      self.memo.retryAt = nil
      self.memo.isRefused = false
      self.memo.android?.isStarted = false
    }
  }

  /// Applies what happened to the ride.
  mutating func handle(_ events: [RideEvent], isState: (String) -> Bool) {
    for event in events {
      memo.lastEventAt = max(memo.lastEventAt, event.at)
      score(by: event.name)
      let hasAlert = life.alerts[event.name] != nil
      if life.isUrgent(event.name) || isState(event.name) {
        memo.cause = event
        memo.isUrgent = memo.isUrgent || life.isUrgent(event.name)
      } else if memo.cause.map({ !life.isUrgent($0.name) && !isState($0.name) }) ?? true {
        memo.cause = event
      }
      // "Your driver is here" is outdated once the ride has begun.
      if hasAlert || isState(event.name) {
        if let old = memo.alert { replacedAlerts.append(old) }
        memo.alert = hasAlert ? event : nil
      }
    }
  }

  /// Records when a card that the app has scheduled appears; nil if it is not scheduled.
  ///
  /// Until then it does not age, and can't show an alert. A card that has appeared stays.
  ///
  /// - Returns: The event whose alert it would have shown.
  mutating func schedule(_ start: Timestamp?, isNew: Bool) -> RideEvent? {
    if let start, start > now, isNew || memo.since > now {
      memo.since = start
      memo.lastEventAt = start
      countStaleDate(from: start)
      defer { memo.alert = nil }
      return memo.alert
    }
    if memo.since > now {
      memo.since = now
      memo.lastEventAt = min(memo.lastEventAt, now)
      countStaleDate(from: now)
    }
    return nil
  }

  /// Makes a card that appears earlier than its last push assumed be refreshed as early, too.
  private mutating func countStaleDate(from start: Timestamp) {
    memo.staleAt = memo.staleAt.map { min($0, life.stale(from: start)) }
  }

  /// The stale date of an update sent now. That of a card that is yet to appear counts from then:
  /// it would otherwise be stale until its first refresh arrives.
  var staleAt: Timestamp { life.stale(from: max(now, memo.since)) }

  /// Records an event or state after which the card has another relevance score, if the rule names
  /// it.
  mutating func score(by cause: String) {
    if life.relevance[cause] != nil { memo.scoredBy = cause }
  }

  /// Returns the fingerprint of what the card should show: of the content, and of the score if an
  /// event can change it.
  func fingerprint(of content: String?) -> String? {
    guard let content, memo.android == nil, let cause = memo.scoredBy,
      let score = life.relevance[cause]
    else {
      return content
    }
    return PushID(of: content, "\(score)").description
  }

  /// Records that the ride, or the card's time, is over: from now on the card can only end.
  ///
  /// - Parameter cause: The event or state that ended it; nil if its time was over.
  mutating func end(at instant: Timestamp, by cause: String?) {
    if memo.endsAt != nil { return }
    memo.endsAt = instant
    memo.endedBy = cause
  }

  /// When the ended card leaves the lock screen; nil if the system decides that.
  var dismissalAt: Timestamp? {
    guard let endsAt = memo.endsAt else { return nil }
    if memo.isDismissed { return endsAt }
    return life.dismissal(endedBy: memo.endedBy).map { endsAt + $0 }
  }

  /// Whether an end that is sent now removes the card at once.
  var isRemoved: Bool { dismissalAt.map { $0 <= now } ?? false }

  /// Leaves nothing to send to the ended card of an Android phone.
  mutating func finish() {
    memo.android?.isOver = true
    memo.isPending = false
    memo.subject = nil
    memo.retryAt = nil
    memo.number = memo.number.addingSaturating(1)
  }

  /// When and why the card's time is over although the ride is not; nil if that time is not over.
  var expiry: (at: Timestamp, reason: LedgerReason)? {
    let limit = life.inactivityLimit
    if now >= memo.lastEventAt + limit {
      return (
        memo.lastEventAt + limit,
        LedgerReason(.rideInactive, "the ride had no event for \(limit.rideText)")
      )
    }
    guard let tooOldAt, now >= tooOldAt else { return nil }
    return (tooOldAt, LedgerReason(.cardTooOld, "iOS ends a card after eight hours"))
  }

  /// When a card is ended for its age; nil for a broadcast card, and for Android, which ends none.
  private var tooOldAt: Timestamp? {
    life.broadcast == nil && memo.android == nil ? memo.since + LiveActivity.ageLimit : nil
  }

  /// Whether the card can't be on a screen any more.
  var isPastScreen: Bool {
    guard let endsAt = memo.endsAt else { return false }
    // Some watchers of a channel may have begun just before its end.
    let lastSeen = life.broadcast == nil && memo.android == nil ? memo.since : endsAt
    return now >= lastSeen + LiveActivity.screenLimit
  }

  /// Returns what to send now, if anything.
  ///
  /// - Parameter shown: The fingerprint of what the card should show; nil if that can't be
  ///   rendered.
  mutating func update(_ shown: String?) -> CardUpdate? {
    if let retryAt = memo.retryAt, retryAt > now { return nil }
    if let endsAt = memo.endsAt {
      // An app on Android takes a card away only if it is told to, whatever was refused before.
      if memo.isRefused, memo.android == nil { return nil }
      return CardUpdate(
        event: .end, cause: memo.cause ?? RideEvent(id: 0, name: "end", at: endsAt), isUrgent: true)
    }
    guard let shown else { return nil }
    let hasChanged = hasChanged(shown)
    if !hasChanged {
      memo.cause = nil
      memo.isUrgent = false
    }
    if hasChanged, memo.isUrgent || coalescedUntil <= now {
      return CardUpdate(event: event, cause: memo.cause ?? refreshEvent, isUrgent: memo.isUrgent)
    }
    if !hasChanged, let refreshAt, refreshAt <= now {
      return CardUpdate(event: event, cause: refreshEvent)
    }
    return nil
  }

  private func hasChanged(_ shown: String) -> Bool {
    shown != memo.shown || memo.alert != nil || memo.isUrgent && leftAtLowPriority
  }

  /// Whether the push that waits for its retry has nothing to deliver any more: the card shows what it
  /// should, and will for a while.
  func isUnneeded(_ shown: String?) -> Bool {
    guard memo.isPending, memo.endsAt == nil, let shown, !hasChanged(shown) else { return false }
    return refreshAt.map { $0 > now } ?? true
  }

  /// Leaves the push that waits for its retry.
  mutating func drop() {
    memo.isPending = false
    memo.subject = nil
    memo.retryAt = nil
    memo.failures = 0
    memo.number = memo.number.addingSaturating(1)
  }

  /// What a push does that shows the card: the first one that FCM accepts starts it on Android.
  private var event: CardEvent { memo.android?.isStarted == false ? .start : .update }

  /// Returns when the card needs attention again if nothing is sent; nil if only an event can
  /// change anything.
  func due(_ shown: String?) -> Timestamp? {
    if let retryAt = memo.retryAt, retryAt > now { return retryAt }
    if memo.endsAt != nil { return nil }
    var dues = [memo.lastEventAt + life.inactivityLimit, tooOldAt]
    if let shown {
      let hasChanged = shown != memo.shown || memo.alert != nil
      dues.append(hasChanged ? coalescedUntil : refreshAt)
    }
    return dues.compactMap { $0 }.min()
  }

  /// The time until which changes wait for others that may follow.
  private var coalescedUntil: Timestamp { memo.sentAt.map { $0 + life.minInterval } ?? now }

  /// Whether the last push left at priority 5 within `min-interval`: an urgent event that follows,
  /// such as one that a rule emits because of the change, is about what it shows.
  private var leftAtLowPriority: Bool {
    guard let sentAt = memo.sentAt, coalescedUntil > now else { return false }
    return (memo.urgentAt.last ?? 0) < sentAt.epochSeconds
  }

  private var refreshAt: Timestamp? {
    guard !memo.isRefused, var staleAt = memo.staleAt else { return nil }
    // It appears later than its last push assumed, and would be stale then.
    if memo.since > now, staleAt <= memo.since { return coalescedUntil }
    guard !life.staleAfterByState.isEmpty, let sentAt = memo.sentAt else {
      return max(life.refresh(before: staleAt), memo.since)
    }
    // Sent in another state, it may be outdated sooner than its stale date has it.
    let shown = max(sentAt, memo.since)
    staleAt = min(staleAt, life.stale(from: shown))
    return max(staleAt - max(.zero, min(life.freshness, staleAt - shown)) / 4, memo.since)
  }

  private var refreshEvent: RideEvent { .refresh(at: now) }
}

extension CardStateMachine {
  /// Returns the priority of a push sent now, and the reason in the ledger if APNs accepts it.
  ///
  /// Beyond the budget iOS would throttle a card silently; a push at priority 5 does not count.
  mutating func priority(_ update: CardUpdate, frequent: Bool) -> (
    priority: PushPriority, acceptedReason: LedgerReason?
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

  /// Makes the next timestamp rise above those that the ride's previous holder may have sent, up to
  /// this second, without a record.
  mutating func followUnrecordedPushes(until end: Timestamp) {
    memo.timestamp = max(memo.timestamp, now.epochSeconds, end.epochSeconds)
  }

  /// Returns the card once APNs has accepted or rejected a push with this content.
  func settled(_ shown: String?, staleAt: Timestamp?) -> CardStateMachine {
    var settled = self
    settled.memo.settle(shown, staleAt: staleAt)
    return settled
  }

  /// Returns the `timestamp` of a push sent now: higher than every earlier one of this card.
  mutating func stamp() -> Int64 {
    memo.timestamp = max(now.epochSeconds, memo.timestamp.addingSaturating(1))
    memo.sentAt = now
    return memo.timestamp
  }
}
