package import Base

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
