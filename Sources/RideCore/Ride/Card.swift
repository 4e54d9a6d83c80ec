/// A Live Activity that an app has registered for a ride: one row of `ridepulse.live_activities`.
package struct Card: Hashable, Sendable {
  /// The row's ID: it stays while the token changes.
  package var id: Int64
  /// The app.
  package var app: App
  /// Whose phone it is on.
  package var ownerID: OwnerID
  /// The activity's update token, as registered last.
  package var token: String
  /// Which of Apple's worlds the token belongs to; nil where the app did not say.
  package var environment: APNsEnvironment?
  /// Whether the app may update it often (`frequentPushesEnabled`).
  package var isFrequent: Bool
  /// When the token was registered.
  package var registeredAt: Timestamp
  /// The person or the phone put it away: it is there no more, and no other takes its place.
  package var isGone: Bool
  /// Where `token` is a broadcast channel's ID: what APNs keeps of its messages.
  var storage: ChannelStorage?

  /// A card of a ride.
  package init(
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
package struct StartToken: Hashable, Sendable {
  /// The row's ID.
  package var id: Int64
  /// The app.
  package var app: App
  /// Whose phone it is.
  package var ownerID: OwnerID
  /// Which type of cards it starts.
  package var attributesType: String
  /// The token, as registered.
  package var token: String
  /// Which of Apple's worlds the token belongs to; nil where the app did not say.
  package var environment: APNsEnvironment?
  /// When it was registered; of a phone's tokens the newest counts.
  package var registeredAt: Timestamp

  /// A token that starts cards.
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
