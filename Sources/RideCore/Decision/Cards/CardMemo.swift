package import Base

/// The state of one card between decisions.
package struct CardMemo: Hashable, Sendable {
  /// When it was registered, which is about when it began to live; of a card that the app has
  /// scheduled, when it will.
  package var since: Timestamp
  /// When the ride last had an event; at first, when the card was first seen.
  package var lastEventAt: Timestamp
  /// The last characters of its token, or channel ID, at the last decision.
  package var token: String
  /// The highest `timestamp` used so far.
  package var timestamp: Int64 = 0
  /// The number of its next push: all attempts of one push have the same number.
  package var number = 1
  /// The fingerprint of the content that APNs last accepted or rejected; nil if it is not known
  /// what the card shows.
  package var shown: String?
  /// The stale date of that content.
  package var staleAt: Timestamp?
  /// When the last push left.
  package var sentAt: Timestamp?
  /// How often the next push was tried.
  package var failures = 0
  /// Whether the ledger has a row of the next push, which waits, tried or not.
  package var isPending = false
  /// The event in the ledger's row of the next push; nil if there is no row.
  ///
  /// All attempts of one push keep this event in the ledger, whatever has happened since.
  package var subject: RideEvent?
  /// The earliest time of the next attempt.
  package var retryAt: Timestamp?
  /// When pushes of priority 10 left within the last hour, in seconds since 1970.
  package var urgentAt: [Int64] = []
  /// The event that the next push will be about, if any.
  package var cause: RideEvent?
  /// Whether the next push must not wait.
  package var isUrgent = false
  /// The event whose alert the next push shows.
  package var alert: RideEvent?
  /// When the cause of the card's end occurred; from then on only an end is sent.
  package var endsAt: Timestamp?
  /// The event or state that ended the card, which determines how long it stays; nil if the card's
  /// own time was over.
  package var endedBy: String?
  /// Whether the ended card leaves the lock screen at once, because its owner has turned cards off.
  package var isDismissed = false
  /// The last event that gave the card a relevance score, if its rule has any.
  package var scoredBy: String?
  /// Whether APNs rejected the last push: nothing is sent again without a cause.
  package var isRefused = false
  /// Whether the ride has named the card's owner; if it no longer does, the card must end.
  package var hasMatchedOwner = false
  /// Why no push could be made, as already recorded in the ledger.
  package var complaint: String?
  /// Nil unless it is the card of an Android phone.
  package var android: AndroidCardMemo?

  /// Creates the memo of a card that is seen for the first time.
  init(of card: Card, now: Timestamp) {
    since = min(card.registeredAt, now)
    lastEventAt = now
    token = Self.suffix(of: card)
  }

  /// Corrects times that lie ahead because the clock was set back after a push had left.
  ///
  /// Nothing waits for such a time to come again. Timestamps stay, because they must rise.
  mutating func clampTimes(to now: Timestamp, freshness: Duration) {
    guard let sentAt, sentAt > now else { return }
    self.sentAt = now
    // A scheduled card appears after now, whatever the clock.
    if since <= sentAt {
      since = min(since, now)
      lastEventAt = min(lastEventAt, now)
    }
    retryAt = retryAt.map { min($0, now) }
    // Of a card that is yet to appear, it counts from then.
    staleAt = staleAt.map { min($0, max(now, since) + freshness) }
    endsAt = endsAt.map { min($0, now) }
    urgentAt = urgentAt.map { min($0, now.epochSeconds) }
  }

  /// Leaves nothing of the next push to deliver.
  mutating func settle(_ shown: String?, staleAt: Timestamp?) {
    self.shown = shown
    self.staleAt = staleAt
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

  /// Becomes what a step leaves; the budget also counts what was sent since it was planned.
  mutating func follow(_ step: CardStep, isRefused: Bool) {
    let urgentAt = self.urgentAt
    self = step.settled.memo
    self.urgentAt = urgentAt
    self.isRefused = isRefused
  }

  static func suffix(of card: Card) -> String { String(card.token.suffix(8)) }
}

/// The state of a start by push: a phone gets another one only once the card has ended.
package struct StartMemo: Hashable, Sendable {
  package var entry: LedgerEntry
  /// The owner of the phone.
  package var owner: OwnerID
  /// The fingerprint of the started card's content.
  package var shown: String?
  /// Whether it may have left and has no recorded outcome.
  package var isOpen: Bool
  /// The app's installation on the phone; nil if the app did not name it.
  package var installationID: InstallationID?
}

/// What a push does to a card, applied when the push has an outcome.
package struct CardStep: Hashable, Sendable {
  package var card: CardTarget
  package var event: CardEvent
  /// The event whose alert it shows.
  var alert: RideEvent?
  var priority: PushPriority
  package var timestamp: Int64
  /// The starts by push that the ended card may come from, by `StartToken.id`: each may go again.
  var endedStarts: [Int64] = []
  /// The card once APNs has accepted or rejected the push: nothing of it is left to deliver.
  var settled: CardStateMachine

  /// Whether it is for all who watch a channel.
  var isBroadcast: Bool { settled.life.broadcast != nil }
}

/// The cards of a phone, one of which is to show an alert in its place.
package struct Cover: Hashable, Sendable {
  /// The cards of its phone, one of which is to show it.
  var cards: [CardTarget]
  /// `StartToken.id` of the pushes that start a card on its phone.
  var starts: [Int64] = []
  /// `with-card: skip`: whether any accepted push to one of the cards takes its place, with or without
  /// its alert.
  var isSkipped = false
}
