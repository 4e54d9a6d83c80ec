/// What is known of one card between decisions.
package struct CardMemo: Hashable, Sendable, Codable {
  /// When it was first seen: about when it began to live.
  package var since: Timestamp
  /// When anything was last heard of its ride.
  package var heardAt: Timestamp
  /// The last digits of the token that it was last reached by.
  package var token: String
  /// The highest `timestamp` that was used.
  package var timestamp: Int64 = 0
  /// Which of its pushes comes next: all attempts of one push have one number.
  package var number = 1
  /// The fingerprint of what APNs last took; nil where nobody knows what it shows.
  package var shown: String?
  /// Until when that holds, as the card says.
  package var staleAt: Timestamp?
  /// When the last push left.
  package var sentAt: Timestamp?
  /// How often the next push was tried.
  package var failures = 0
  /// The ledger has a row of the next push: it waits, tried or not.
  package var isPending = false
  /// What the ledger's row of the next push tells of, where there is one: all attempts of one push
  /// tell of one thing there, whatever has happened since.
  package var subject: RideEvent?
  /// When it may go again.
  package var retryAt: Timestamp?
  /// When pushes of priority 10 left within the last hour, in seconds since 1970.
  package var urgentAt: [Int64] = []
  /// What the next push will tell of, where that is an event.
  package var cause: RideEvent?
  /// The next push is not to wait.
  package var isUrgent = false
  /// The event that the next push says aloud.
  package var alert: RideEvent?
  /// When what ends it happened; from then on nothing but an end is sent.
  package var endsAt: Timestamp?
  /// APNs refused the last push for good: nothing is sent again without a cause.
  package var isRefused = false
  /// Its owner is whom the ride names; where that was so and is no more, the card must go.
  package var isOwners = false
  /// Why it could not be rendered, as the ledger says already.
  package var complaint: String?

  /// A card that was just seen.
  init(of card: Card, now: Timestamp) {
    since = min(card.registeredAt, now)
    heardAt = now
    token = Self.suffix(of: card)
  }

  /// What lies ahead of a push that has left was said by a clock that was set back since: nothing
  /// waits for that time to come again. Timestamps stay, since they must rise.
  mutating func follow(_ now: Timestamp, freshness: Duration) {
    guard let sentAt, sentAt > now else { return }
    self.sentAt = now
    since = min(since, now)
    heardAt = min(heardAt, now)
    retryAt = retryAt.map { min($0, now) }
    staleAt = staleAt.map { min($0, now + freshness) }
    endsAt = endsAt.map { min($0, now) }
    urgentAt = urgentAt.map { min($0, now.epochSeconds) }
  }

  static func suffix(of card: Card) -> String { String(card.token.suffix(8)) }
}

/// A start by push: at most one for each ride and phone, whatever happens.
package struct StartMemo: Hashable, Sendable, Codable {
  /// What the ledger says of it.
  package var entry: LedgerEntry
  /// Whose phone it is.
  package var owner: OwnerID
  /// The fingerprint of what the started card shows.
  package var shown: String?
  /// It may have left, and nobody has noted what became of it.
  package var isOpen: Bool
}

/// What a push to a card does, once its outcome is known.
struct CardStep: Hashable, Sendable {
  /// `Card.id`.
  var card: Int64
  var event: CardEvent
  /// The fingerprint of what it shows.
  var shown: String?
  var staleAt: Timestamp?
  /// The event that it says aloud.
  var alert: RideEvent?
  var life: LiveActivity
  var priority: PushPriority
  var timestamp: Int64

  /// It is for everybody who watches a channel.
  var isBroadcast: Bool { life.broadcast != nil }
}

/// What a push of type `liveactivity` does: `aps.event`.
package enum CardEvent: String, Hashable, Sendable, Codable {
  /// A card appears.
  case start
  /// It shows something else.
  case update
  /// It shows the last, and goes.
  case end
}

/// An ordinary alert that a card says in its place, unless the card can't be reached.
package struct HeldAlert: Hashable, Sendable {
  /// What the ledger says of it if the card does.
  package var entry: LedgerEntry
  /// Whose phone it is.
  var owner: OwnerID
}
