/// The reasons that this simulator gives by itself, in Apple's spelling; faults may give any other.
enum Reason: String, CaseIterable, Sendable {
  case badChannelID = "BadChannelId"
  case badCollapseID = "BadCollapseId"
  case badDeviceToken = "BadDeviceToken"
  case badExpirationDate = "BadExpirationDate"
  case badMessageID = "BadMessageId"
  case badPath = "BadPath"
  case badPriority = "BadPriority"
  case badRequestParams = "BadRequestParams"
  case badRequestPayload = "BadRequestPayload"
  case badTopic = "BadTopic"
  case cannotCreateChannelConfig = "CannotCreateChannelConfig"
  case channelNotRegistered = "ChannelNotRegistered"
  case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
  case duplicateHeaders = "DuplicateHeaders"
  case expiredProviderToken = "ExpiredProviderToken"
  case expiredToken = "ExpiredToken"
  case featureNotEnabled = "FeatureNotEnabled"
  case invalidProviderToken = "InvalidProviderToken"
  case invalidPushType = "InvalidPushType"
  case methodNotAllowed = "MethodNotAllowed"
  case missingChannelID = "MissingChannelId"
  case missingDeviceToken = "MissingDeviceToken"
  case missingProviderToken = "MissingProviderToken"
  case missingPushType = "MissingPushType"
  case missingTopic = "MissingTopic"
  case payloadEmpty = "PayloadEmpty"
  case payloadTooLarge = "PayloadTooLarge"
  case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
  case topicDisallowed = "TopicDisallowed"
  case unregistered = "Unregistered"

  /// Not Apple's: APNs answers 200 to a payload that no phone can decode, and drops it.
  case badPayload = "BadPayload"
  /// Not Apple's: APNs ignores `content-type`.
  case badContentType = "BadContentType"
  /// Not Apple's: APNs most likely ignores a header that belongs to another call.
  case strayHeader = "StrayHeader"

  var status: Int {
    switch self {
    case .expiredProviderToken, .invalidProviderToken, .missingProviderToken: 403
    case .badPath: 404
    case .methodNotAllowed: 405
    case .expiredToken, .unregistered: 410
    case .payloadTooLarge: 413
    case .tooManyProviderTokenUpdates: 429
    default: 400
    }
  }
}
