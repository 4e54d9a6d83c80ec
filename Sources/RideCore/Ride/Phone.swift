package import Base

/// A phone that is registered for an app: one row of `ridepulse.devices`.
package struct Phone: Hashable, Sendable {
  package var id: Int64
  package var app: App
  package var ownerID: OwnerID
  package var platform: Platform = .ios
  /// Its address at APNs or FCM as registered, which may turn out not to be a token.
  package var token: String
  /// The APNs environment of the token; nil if the app did not specify it, and for Android.
  package var environment: APNsEnvironment?
  /// The language that the app runs in, such as `de` or `pt-BR`.
  package var locale: String?
  /// The zone of its clock, as registered: the tz database may have none of this name.
  package var timeZone: String?
  /// The problems that APNs or FCM reported for the phone; nil if there are none.
  package var problem: PhoneProblem?
  /// When it, or its owner on an unknown phone, last made contact (`ridepulse.contact`); nil if no
  /// contact was recorded.
  package var contactedAt: Timestamp?
  /// Whether its person has turned off notifications in the system, as the app reports it.
  package var hasAlertsOff = false
  /// The app's installation; nil if the app did not name it.
  package var installationID: InstallationID?

  package init(
    id: Int64, app: App, ownerID: OwnerID, token: String, environment: APNsEnvironment? = nil,
    locale: String? = nil
  ) {
    self.id = id
    self.app = app
    self.ownerID = ownerID
    self.token = token
    self.environment = environment
    self.locale = locale
  }
}
