/// A Live Activity that an app has registered for a ride: one row of `ridepulse.live_activities`.
package struct Card: Hashable, Sendable {
  /// The row's ID, which stays the same when the token changes.
  package var id: Int64
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
  /// What APNs stores of its messages, if `token` is the ID of a broadcast channel.
  var storage: ChannelStorage?

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
