import SimulatorKit

/// One check; the name is for people, and nil means that the rule is satisfied.
struct Rule: Sendable {
  let name: String
  /// The strictness that the rule belongs to; nil if APNs itself refuses what the rule refuses.
  let part: Strictness?
  let check: @Sendable (Push) -> Refusal?

  init(
    _ name: String, of part: Strictness? = nil, _ check: @escaping @Sendable (Push) -> Refusal?
  ) {
    self.name = name
    self.part = part
    self.check = check
  }
}

struct RuleResult: Equatable, Sendable {
  let refusal: Refusal?
  /// The token that passed all rules for provider tokens, whatever else was wrong.
  let provenToken: TokenIdentity?
  /// Why the phone drops an accepted push.
  var dropped: String?
}

/// All rules for pushes to devices, in order; the first refusal counts.
enum PushRules {
  static let rules: [Rule] =
    RequestRules.all + CredentialRules.all + HeaderRules.all + PayloadRules.all
    + AlertRules.all + SilentRules.all + LiveActivityRules.all + DeviceTokenRules.all

  static func evaluate(_ request: Request, in context: RuleContext) -> RuleResult {
    evaluate(Push(request, in: context))
  }

  /// The number of rules up to the one after which the provider token is proved valid.
  static let proven = RequestRules.all.count + CredentialRules.all.count

  static func evaluate(
    _ push: Push, by rules: [Rule] = Self.rules, proven: Int = Self.proven
  ) -> RuleResult {
    var dropped: String?
    for (index, rule) in rules.enumerated() {
      if let part = rule.part, !push.context.strictness.contains(part) {
        if part == .payloads, dropped == nil { dropped = rule.check(push)?.detail }
        continue
      }
      guard let refusal = rule.check(push) else { continue }
      let token = index < proven ? nil : push.tokenIdentity
      return RuleResult(refusal: refusal, provenToken: token)
    }
    return RuleResult(refusal: nil, provenToken: push.tokenIdentity, dropped: dropped)
  }
}

/// A rule's refusal of a push, with an explanation for the developer who sent it.
struct Refusal: Equatable, Sendable {
  let reason: Reason
  /// The value found and the form expected: recorded, and sent in a header of the simulator's own,
  /// because the body is Apple's.
  let detail: String
  /// Since when the token is invalid, in milliseconds; only with 410.
  let timestamp: Int?

  init(_ reason: Reason, _ detail: String, timestamp: Int? = nil) {
    self.reason = reason
    self.detail = detail
    self.timestamp = timestamp
  }
}

/// The reasons that this simulator gives by itself, in Apple's spelling; faults may give any other.
enum Reason: String, CaseIterable, Sendable {
  case badCertificate = "BadCertificate"
  case badCertificateEnvironment = "BadCertificateEnvironment"
  case badChannelID = "BadChannelId"
  case badCollapseID = "BadCollapseId"
  case badDeviceToken = "BadDeviceToken"
  case badEnvironmentKeyID = "BadEnvironmentKeyIdInToken"
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
  case forbidden = "Forbidden"
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
  case tooManyRequests = "TooManyRequests"
  case topicDisallowed = "TopicDisallowed"
  case topicMismatch = "TopicMismatch"
  case unregistered = "Unregistered"
  case unrelatedKeyID = "UnrelatedKeyIdInToken"

  /// Not Apple's: APNs answers 200 to a payload that no phone can decode, and the phone drops it.
  case badPayload = "BadPayload"
  /// Not Apple's: APNs ignores `content-type`.
  case badContentType = "BadContentType"
  /// Not Apple's: APNs most likely ignores a header that belongs to another call.
  case strayHeader = "StrayHeader"

  var status: Int {
    switch self {
    case .badCertificate, .badCertificateEnvironment, .badEnvironmentKeyID,
      .expiredProviderToken, .forbidden, .invalidProviderToken, .missingProviderToken,
      .topicMismatch, .unrelatedKeyID:
      403
    case .badPath: 404
    case .methodNotAllowed: 405
    case .expiredToken, .unregistered: 410
    case .payloadTooLarge: 413
    case .tooManyProviderTokenUpdates, .tooManyRequests: 429
    default: 400
    }
  }
}
