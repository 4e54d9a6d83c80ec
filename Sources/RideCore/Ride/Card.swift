/// What the pushes of a card are sent to; it stays the same when the token changes.
package enum CardTarget: Hashable, Comparable, Sendable {
  /// One phone: the ID of a row of `ridepulse.live_activities`.
  case activity(Int64)
  /// All who watch a ride's channel: `RideChannel.id`.
  case channel(Int64)
}

extension CardTarget: StoredAsRaw, StoredKey {
  /// The text in a memo: `7` or `channel 7`.
  package var rawValue: String {
    switch self {
    case .activity(let id): "\(id)"
    case .channel(let id): "channel \(id)"
    }
  }

  package init?(rawValue: String) {
    let words = rawValue.split(separator: " ", omittingEmptySubsequences: false)
    guard let id = words.last.flatMap({ Int64($0) }) else { return nil }
    switch words.count {
    case 1: self = .activity(id)
    case 2 where words[0] == "channel": self = .channel(id)
    default: return nil
    }
  }
}

/// A Live Activity of a ride: one that an app has registered, or the one that all who watch the
/// ride's channel see.
package struct Card: Hashable, Sendable {
  package var target: CardTarget
  package var app: App
  /// The owner of the phone.
  package var ownerID: OwnerID
  /// The update token that was registered last.
  package var token: String
  /// The APNs environment of the token; nil if the app did not specify it.
  package var environment: APNsEnvironment?
  /// Whether the app allows frequent updates (`frequentPushesEnabled`).
  package var isFrequent: Bool
  /// When the token was registered.
  package var registeredAt: Timestamp
  /// The person or the phone dismissed the card: it no longer exists, and no other replaces it.
  package var isGone: Bool
  /// The app's installation that shows it; nil if the app did not name it.
  package var installationID: InstallationID?
  /// What APNs stores of its messages, if `token` is the ID of a broadcast channel.
  var storage: ChannelStorage?

  package init(
    _ target: CardTarget, app: App, ownerID: OwnerID, token: String,
    environment: APNsEnvironment? = nil, isFrequent: Bool = false, registeredAt: Timestamp,
    isGone: Bool = false
  ) {
    self.target = target
    self.app = app
    self.ownerID = ownerID
    self.token = token
    self.environment = environment
    self.isFrequent = isFrequent
    self.registeredAt = registeredAt
    self.isGone = isGone
  }
}

/// A token that starts cards on a phone: one row of `ridepulse.push_to_start_tokens`.
package struct StartToken: Hashable, Sendable {
  package var id: Int64
  package var app: App
  /// The owner of the phone.
  package var ownerID: OwnerID
  /// The type of the cards that it starts.
  package var attributesType: String
  /// The token as registered.
  package var token: String
  /// The APNs environment of the token; nil if the app did not specify it.
  package var environment: APNsEnvironment?
  /// When the token was registered; the newest token of a phone is used.
  package var registeredAt: Timestamp
  /// The app's installation; nil if the app did not name it.
  package var installationID: InstallationID?

  package init(
    id: Int64, app: App, ownerID: OwnerID, attributesType: String, token: String,
    environment: APNsEnvironment? = nil, registeredAt: Timestamp
  ) {
    self.id = id
    self.app = app
    self.ownerID = ownerID
    self.attributesType = attributesType
    self.token = token
    self.environment = environment
    self.registeredAt = registeredAt
  }
}
