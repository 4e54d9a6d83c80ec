package import Base

/// A token that an app registered or withdrew: of a phone, of a card, or one that starts a card.
package struct Registration: StoredObject, Hashable, Sendable {
  /// Of a card: its ride, and the activity, which keeps its ID when its token changes.
  package var ride: RideID?
  package var activityID: String?
  package var app: App
  package var ownerID: OwnerID
  package var token: String
  package var environment: APNsEnvironment?
  package var installationID: InstallationID?
  /// Of a phone.
  package var platform = Platform.ios
  /// Of a phone.
  package var locale: String?
  /// Of a phone: whether its app reports receipts; nil if that is not known.
  package var reportsReceipts: Bool?
  /// Of a phone: its zone, which may be unknown.
  package var timeZone: String?
  /// Of a token that starts a card.
  package var attributesType: String?
  /// Of a card.
  package var isFrequent = false
  /// Whether it is withdrawn: by a sign-out, or because the card is gone.
  package var isRemoved = false
  /// The ID of its row; nil in a file.
  package var id: Int64?

  package init(app: App, ownerID: OwnerID, token: String) {
    self.app = app
    self.ownerID = ownerID
    self.token = token
  }

  package static var blank: Registration { Registration(app: .customer, ownerID: "", token: "") }

  package mutating func visit(_ fields: inout some StoredFields) throws(StoredFault) {
    try fields.field("ride", &ride)
    try fields.field("activity_id", &activityID)
    try fields.field("app", &app)
    try fields.field("owner_id", &ownerID)
    try fields.field("token", &token)
    // Left out for ios, as days that were recorded before have it.
    var other = platform == .ios ? nil : platform
    try fields.field("platform", &other, as: .word)
    platform = other ?? .ios
    if platform == .ios { token = token.lowercased() }
    try fields.field("environment", &environment, as: .word)
    try fields.field("installation_id", &installationID)
    try fields.field("locale", &locale)
    try fields.field("receipts", &reportsReceipts, as: .flag)
    try fields.field("time_zone", &timeZone)
    try fields.field("attributes_type", &attributesType)
    try fields.flag("frequent", &isFrequent)
    try fields.flag("removed", &isRemoved)
  }
}

extension Registration {
  init(_ phone: Phone) {
    self.init(app: phone.app, ownerID: phone.ownerID, token: phone.token)
    (environment, installationID) = (phone.environment, phone.installationID)
    (platform, locale, timeZone) = (phone.platform, phone.locale, phone.timeZone)
  }

  /// Nil for the card of a channel, which no phone registered.
  init?(_ card: Card) {
    guard case .activity(let id) = card.target else { return nil }
    self.init(app: card.app, ownerID: card.ownerID, token: card.token)
    (environment, installationID) = (card.environment, card.installationID)
    activityID = String(id)
    (isFrequent, isRemoved) = (card.isFrequent, card.isGone)
  }

  init(_ start: StartToken) {
    self.init(app: start.app, ownerID: start.ownerID, token: start.token)
    (environment, installationID) = (start.environment, start.installationID)
    attributesType = start.attributesType
  }
}
