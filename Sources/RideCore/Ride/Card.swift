/// A Live Activity that an app has registered for a ride: one row of `ridepulse.live_activities`.
public struct Card: Hashable, Sendable {
  /// The row's ID: it stays while the token changes.
  public var id: Int64
  /// The app.
  public var app: App
  /// Whose phone it is on.
  public var ownerID: OwnerID
  /// The activity's update token, as registered last.
  public var token: String
  /// Which of Apple's worlds the token belongs to; nil where the app did not say.
  public var environment: APNsEnvironment?
  /// Whether the app may update it often (`frequentPushesEnabled`).
  public var isFrequent: Bool
  /// When the token was registered.
  public var registeredAt: Timestamp
  /// The person or the phone put it away: it is there no more, and no other takes its place.
  public var isGone: Bool
  /// Where `token` is a broadcast channel's ID: what APNs keeps of its messages.
  var storage: ChannelStorage?

  /// A card of a ride.
  public init(
    id: Int64, app: App, ownerID: OwnerID, token: String, environment: APNsEnvironment? = nil,
    isFrequent: Bool = false, registeredAt: Timestamp, isGone: Bool = false
  ) {
    self.id = id
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
public struct StartToken: Hashable, Sendable {
  /// The row's ID.
  public var id: Int64
  /// The app.
  public var app: App
  /// Whose phone it is.
  public var ownerID: OwnerID
  /// Which type of cards it starts.
  public var attributesType: String
  /// The token, as registered.
  public var token: String
  /// Which of Apple's worlds the token belongs to; nil where the app did not say.
  public var environment: APNsEnvironment?
  /// When it was registered; of a phone's tokens the newest counts.
  public var registeredAt: Timestamp

  /// A token that starts cards.
  public init(
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
