import SimulatorKit

enum Environment: String, CaseIterable, Sendable {
  case production, sandbox
}

/// What tells one valid provider token from another.
struct TokenIdentity: Equatable, Sendable {
  let keyID: String
  let issuedAt: Int
}

/// The provider token that a connection uses, and since when.
struct AdoptedToken: Equatable, Sendable {
  let token: TokenIdentity
  let adoptedAt: Int
}

/// All inputs of a verdict except the request; times are epoch seconds.
struct RuleContext {
  var now: Int
  var keys: KeyRing
  var bundleIDs: Set<String>
  var environment: Environment
  var deviceTokens: DeviceTokenRegistry
  var strictness = Strictness.standard
  /// The last push to the card or channel that the request addresses.
  var lastCardPush: CardPush?
  /// True if the device token received as many pushes as its rate allows.
  var isOverTokenRate = false
  /// The token that the connection has adopted.
  var adoptedToken: AdoptedToken?
  /// The certificate that authenticates the connection.
  var certificate: ClientCertificate?
  var channels = ChannelRegistry()
  var channelLimit = 10_000
  /// Apps whose Broadcast Capability is off.
  var appsWithoutBroadcast: Set<String> = []
  /// Parses and verifies a JWT; results may be cached, because they depend only on the text.
  var readProviderToken: (String) -> ProviderToken?
}

/// A request that is parsed once for all rules.
struct Push {
  let request: Request
  let context: RuleContext
  let providerToken: ProviderToken?
  /// The push type of the header; without one, the type that topic and payload suggest.
  let pushType: PushType?
  /// The value of `apns-topic`, or what APNs assumes without one: a certificate's only topic.
  let topic: String?
  let payload: JSON?
  /// Why the payload is no JSON.
  let payloadError: JSONError?

  init(_ request: Request, in context: RuleContext) {
    self.request = request
    self.context = context
    providerToken = Self.bearer(request).flatMap { context.readProviderToken($0) }
    let isCall = ChannelCall.owns(request.path)
    let name = request.value("apns-push-type")
    // Apple's page for broadcasts has the type as `Liveactivity`.
    let type = name.flatMap { PushType(rawValue: isCall ? $0.lowercased() : $0) }
    let limit =
      isCall ? Self.maximumBroadcastBytes : (type ?? .voip).maximumPayloadBytes
    (payload, payloadError) = request.bodyBytes > limit ? (nil, nil) : Self.parse(request.body)
    let topics = context.certificate?.topics ?? []
    topic = request.value("apns-topic") ?? (topics.count == 1 ? topics[0] : nil)
    pushType =
      name == nil && !isCall
      ? PushType(topic: topic ?? "", aps: payload?.object?["aps"]?.object ?? [:], in: context)
      : type
  }

  private static func parse(_ body: [UInt8]) -> (JSON?, JSONError?) {
    do throws(JSONError) {
      return (try JSONParser.parse(body), nil)
    } catch {
      return (nil, error)
    }
  }

  /// The key of the provider token, if it names one; a request with a certificate uses none.
  var keyID: String? { context.certificate == nil ? providerToken?.keyID?.string : nil }

  var tokenIdentity: TokenIdentity? {
    guard let keyID, let issuedAt = providerToken?.issuedAtSeconds else { return nil }
    return TokenIdentity(keyID: keyID, issuedAt: issuedAt)
  }

  /// The topic without the push type's suffix.
  var bundleID: String {
    let topic = topic ?? ""
    let suffix = pushType?.topicSuffix ?? ""
    return topic.hasSuffix(suffix) ? String(topic.dropLast(suffix.count)) : topic
  }

  /// The provider token; the scheme's case does not matter (RFC 9110, section 11.1).
  static func bearer(_ request: Request) -> String? {
    guard let value = request.value("authorization"),
      value.prefix("bearer ".count).lowercased() == "bearer "
    else { return nil }
    return String(value.dropFirst("bearer ".count))
  }

  /// The last part of `/3/device/<token>`; nil for any other path.
  var deviceToken: Substring? {
    let path = request.path
    if path == "/3/device" { return "" }
    guard path.hasPrefix("/3/device/") else { return nil }
    return path.dropFirst("/3/device/".count)
  }

  var aps: [String: JSON]? { payload?.object?["aps"]?.object }

  func header(_ name: String) -> String? { request.value(name) }
}
