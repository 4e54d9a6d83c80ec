/// What is known of one card between decisions.
public struct CardMemo: Hashable, Sendable, Codable {
  /// When it was first seen: about when it began to live.
  public var since: Timestamp
  /// When anything was last heard of its ride.
  public var heardAt: Timestamp
  /// The last digits of the token that it was last reached by.
  public var token: String
  /// The highest `timestamp` that was used.
  public var timestamp: Int64 = 0
  /// Which of its pushes comes next: all attempts of one push have one number.
  public var number = 1
  /// The fingerprint of what APNs last took; nil where nobody knows what it shows.
  public var shown: String?
  /// Until when that holds, as the card says.
  public var staleAt: Timestamp?
  /// When the last push left.
  public var sentAt: Timestamp?
  /// How often the next push was tried.
  public var failures = 0
  /// The ledger has a row of the next push: it waits, tried or not.
  public var isPending = false
  /// What the ledger's row of the next push tells of, where there is one: all attempts of one push
  /// tell of one thing there, whatever has happened since.
  public var subject: RideEvent?
  /// When it may go again.
  public var retryAt: Timestamp?
  /// When pushes of priority 10 left within the last hour, in seconds since 1970.
  public var urgentAt: [Int64] = []
  /// What the next push will tell of, where that is an event.
  public var cause: RideEvent?
  /// The next push is not to wait.
  public var isUrgent = false
  /// The event that the next push says aloud.
  public var alert: RideEvent?
  /// When what ends it happened; from then on nothing but an end is sent.
  public var endsAt: Timestamp?
  /// APNs refused the last push for good: nothing is sent again without a cause.
  public var isRefused = false
  /// Its owner is whom the ride names; where that was so and is no more, the card must go.
  public var isOwners = false
  /// Why it could not be rendered, as the ledger says already.
  public var complaint: String?

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
public struct StartMemo: Hashable, Sendable, Codable {
  /// What the ledger says of it.
  public var entry: LedgerEntry
  /// Whose phone it is.
  public var owner: OwnerID
  /// The fingerprint of what the started card shows.
  public var shown: String?
  /// It may have left, and nobody has noted what became of it.
  public var isOpen: Bool
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
public enum CardEvent: String, Hashable, Sendable, Codable {
  /// A card appears.
  case start
  /// It shows something else.
  case update
  /// It shows the last, and goes.
  case end
}

/// An ordinary alert that a card says in its place, unless the card can't be reached.
public struct HeldAlert: Hashable, Sendable {
  /// What the ledger says of it if the card does.
  public var entry: LedgerEntry
  /// Whose phone it is.
  var owner: OwnerID
}
