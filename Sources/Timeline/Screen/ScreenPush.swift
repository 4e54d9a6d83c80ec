package import Base
package import RideCore

/// A push as it leaves for one phone: what a service keeps of it and what the phone shows follow from
/// this alone.
package struct ScreenPush: Hashable, Sendable {
  /// The push's ID, the same in each attempt.
  package var id: String
  /// The rule that sent it.
  package var rule: String
  package var platform: Platform
  package var type: PushType
  /// The token, registration or channel that it is sent to.
  package var address: String
  package var storage: Storage
  /// `apns-collapse-id`.
  package var collapseID: String?
  /// The iPhone's card that it is about; an Android phone's is named in the message.
  package var card: String?
  package var payload: JSONValue
  /// Whether the payload is the one that was sent; if not, all that is known is that a push was.
  package var hasContent = true

  /// How a service keeps a push for a phone that it can't reach.
  package enum Storage: Hashable, Sendable {
    case apns(PushExpiration)
    case broadcast(PushExpiration, ChannelStorage)
    /// FCM keeps it for so many seconds.
    case fcm(ttl: Int64, collapseKey: String? = nil)
  }

  package init(
    id: String, rule: String = "", platform: Platform = .ios, type: PushType = .alert,
    address: String, storage: Storage, collapseID: String? = nil, card: String? = nil,
    payload: JSONValue
  ) {
    self.id = id
    self.rule = rule
    self.platform = platform
    self.type = type
    self.address = address
    self.storage = storage
    self.collapseID = collapseID
    self.card = card
    self.payload = payload
  }

  /// Creates the push that a decision sends about a ride.
  ///
  /// - Parameter channel: What APNs stores of a broadcast.
  package init(_ push: PlannedPush, ofRide ride: RideID, channel: ChannelStorage = .latest) {
    let payload = JSONValue(json: push.payload) ?? .null
    let storage: Storage =
      switch push.address {
      case .registration: .ofMessage(payload)
      case .channel: .broadcast(push.headers.expiration, channel)
      case .device, .post: .apns(push.headers.expiration)
      }
    self.init(
      id: push.entry.id.description, rule: push.entry.rule, platform: push.platform,
      type: push.headers.pushType, address: push.address.text, storage: storage,
      collapseID: push.headers.collapseID?.text,
      card: push.entry.cardEvent == nil ? nil : ride.text, payload: payload)
  }

  /// What a person sees of it.
  var readable: ReadablePush { ReadablePush(payload, on: platform) }
}

extension ScreenPush.Storage {
  /// Reads what a message states; without `ttl` FCM keeps it for four weeks.
  fileprivate static func ofMessage(_ payload: JSONValue) -> Self {
    let android = payload.value(at: ["message", "android"])
    let text = android?["ttl"]?.string ?? ""
    let ttl = Int64(text.prefix { $0 != "." && $0 != "s" })
    return .fcm(ttl: ttl ?? 2_419_200, collapseKey: android?["collapse_key"]?.string)
  }
}
