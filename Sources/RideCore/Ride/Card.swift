package import Base

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
  /// The Android phone, boxed: a registered card has none.
  private var boxedPhone: PhoneBox?

  private indirect enum PhoneBox: Hashable, Sendable {
    case phone(Phone)
  }

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

extension Card {
  /// Creates the card of an Android phone: it needs no registration.
  init(_ phone: Phone, at now: Timestamp) {
    self.init(
      .phone(phone.id), app: phone.app, ownerID: phone.ownerID, token: phone.token,
      registeredAt: now)
    installationID = phone.installationID
    boxedPhone = .phone(phone)
  }

  /// The Android phone that shows it; nil for an iPhone's card and for a channel's.
  var phone: Phone? {
    if case .phone(let phone) = boxedPhone { phone } else { nil }
  }
}
