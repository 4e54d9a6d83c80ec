import Testing

@testable import APNSSimulator
@testable import SimulatorKit

/// One mistake in a correct channel call, and the reason that must be returned.
struct WrongCall: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let reason: Reason
  let kind: ChannelCall.Kind
  let change: @Sendable (inout Request, inout RuleContext) -> Void

  init(
    _ name: String, _ reason: Reason, _ kind: ChannelCall.Kind,
    change: @escaping @Sendable (inout Request, inout RuleContext) -> Void
  ) {
    testDescription = "\(kind) \(name)"
    self.reason = reason
    self.kind = kind
    self.change = change
  }

  static func header(
    _ name: String, _ value: String?, _ reason: Reason, _ kind: ChannelCall.Kind
  ) -> WrongCall {
    WrongCall("\(name): \(value ?? "missing")", reason, kind) { request, _ in
      request.set(name, value)
    }
  }

  static func extra(
    _ name: String, _ value: String, _ reason: Reason, _ kind: ChannelCall.Kind
  ) -> WrongCall {
    WrongCall("\(name): \(value)", reason, kind) { request, _ in
      request.headers.append(Header(name: name, value: value))
    }
  }

  static func body(_ text: String, _ reason: Reason, _ kind: ChannelCall.Kind) -> WrongCall {
    WrongCall("body \(text.prefix(70))", reason, kind) { request, _ in request.setBody(text) }
  }

  func result(by rules: [Rule] = ChannelRules.all) -> RuleResult {
    var request = Fixture.request(kind)
    var context = Fixture.channelContext
    change(&request, &context)
    return PushRules.evaluate(Push(request, in: context), by: rules, proven: ChannelRules.proven)
  }
}

extension Fixture {
  /// Three channels of the customer app: one stores the latest message, one stores none, one is
  /// deleted.
  private static let registry = {
    var registry = ChannelRegistry()
    let ids = [1, 0, 1].map { registry.create(policy: $0, app: "com.example.customer") }
    registry.delete(ids[2], app: "com.example.customer")
    return (registry, ids)
  }()

  static var latest: String { registry.1[0] }
  static var storingNothing: String { registry.1[1] }
  static var deleted: String { registry.1[2] }

  static var channelContext: RuleContext {
    var context = context
    context.channels = registry.0
    return context
  }

  static func request(_ kind: ChannelCall.Kind) -> Request {
    let (method, path): (String, String) =
      switch kind {
      case .create: ("POST", "/1/apps/com.example.customer/channels")
      case .read: ("GET", "/1/apps/com.example.customer/channels")
      case .delete: ("DELETE", "/1/apps/com.example.customer/channels")
      case .list: ("GET", "/1/apps/com.example.customer/all-channels")
      case .broadcast: ("POST", "/4/broadcasts/apps/com.example.customer")
      }
    var request = Request()
    request.headers = [
      Header(name: ":method", value: method), Header(name: ":scheme", value: "https"),
      Header(name: ":authority", value: "127.0.0.1"), Header(name: ":path", value: path),
      Header(name: "authorization", value: "bearer \(jwt)"),
      Header(name: "apns-request-id", value: "123e4567-e89b-12d3-a456-426614174000"),
    ]
    if [.read, .delete, .broadcast].contains(kind) {
      request.headers.append(Header(name: "apns-channel-id", value: latest))
    }
    if kind == .broadcast {
      request.headers += [
        Header(name: "apns-push-type", value: "liveactivity"),
        Header(name: "apns-expiration", value: String(now + 300)),
        Header(name: "apns-priority", value: "10"),
        Header(name: "content-type", value: "application/json"),
      ]
      request.setBody(update)
    }
    if kind == .create {
      request.headers.append(Header(name: "content-type", value: "application/json"))
      request.setBody(#"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
    }
    return request
  }
}

extension WrongCall {
  static let all: [WrongCall] = requests + apps + creates + reads + broadcasts + payloads

  private static let requests: [WrongCall] = [
    .header(":path", "/1/apps/com.example.customer", .badPath, .read),
    .header(":path", "/1/apps/com.example.customer/channels/", .badPath, .read),
    .header(":path", "/1/apps//channels", .badPath, .read),
    .header(":path", "/4/broadcasts/com.example.customer", .badPath, .broadcast),
    .header(":path", "/4/broadcasts/apps/com.example.customer/x", .badPath, .broadcast),
    .header(":method", "PUT", .methodNotAllowed, .create),
    .header(":method", "GET", .methodNotAllowed, .broadcast),
    .header(":method", "POST", .methodNotAllowed, .list),
    .header(":scheme", "http", .badPath, .list),
    .extra("apns-request-id", "x", .duplicateHeaders, .list),
    .header("authorization", nil, .missingProviderToken, .create),
    .header("authorization", "bearer a.b.c", .invalidProviderToken, .broadcast),
    .header("content-type", "text/plain", .badContentType, .create),
    WrongCall("old JWT", .expiredProviderToken, .list) { request, _ in
      let jwt = Fixture.sign(JWT(issuedAt: Fixture.now - 3601))
      request.set("authorization", "bearer " + jwt)
    },
    WrongCall("second JWT", .tooManyProviderTokenUpdates, .list) { _, context in
      context.adoptedToken = AdoptedToken(
        token: TokenIdentity(keyID: "SIMKEY0001", issuedAt: Fixture.now - 1800),
        adoptedAt: Fixture.now - 1199)
    },
    .header("apns-request-id", "123", .badMessageID, .create),
    .header("apns-request-id", "123E4567-E89B-12D3-A456-426614174000", .badMessageID, .broadcast),
  ]

  private static let apps: [WrongCall] = [
    WrongCall("with another app's key", .topicMismatch, .list) { request, _ in
      let jwt = Fixture.sign(JWT(issuedAt: Fixture.now - 600, keyID: "DRIVERKEY1"))
      request.set("authorization", "bearer " + jwt)
    },
    WrongCall("with another app's certificate", .topicMismatch, .broadcast) { _, context in
      context.certificate = Fixture.certificate("Apple Push Services: com.example.driver")
    },
    .header(
      ":path", "/4/broadcasts/apps/com.example.customer.push-type.liveactivity", .topicDisallowed,
      .broadcast),
    .header(":path", "/1/apps/com.example.other/channels", .topicDisallowed, .create),
    WrongCall("of an app without the capability", .featureNotEnabled, .create) { _, context in
      context.appsWithoutBroadcast = ["com.example.customer"]
    },
    .extra("apns-topic", "com.example.customer", .strayHeader, .broadcast),
    .extra("apns-collapse-id", "r1", .strayHeader, .broadcast),
    .extra("apns-id", "123e4567-e89b-12d3-a456-426614174000", .strayHeader, .broadcast),
    .extra("apns-channel-id", "YQ==", .strayHeader, .list),
    .extra("apns-channel-id", "YQ==", .strayHeader, .create),
  ]

  private static let creates: [WrongCall] = [
    .body("", .payloadEmpty, .create),
    .body("{", .badRequestPayload, .create),
    .body("[]", .badRequestPayload, .create),
    .body(
      #"{"message-storage-policy":1,"push-type":"LiveActivity","name":"x"}"#, .badRequestParams,
      .create),
    .body(#"{"message-storage-policy":1}"#, .missingPushType, .create),
    .body(#"{"message-storage-policy":1,"push-type":"liveactivity"}"#, .invalidPushType, .create),
    .body(#"{"push-type":"LiveActivity"}"#, .badRequestParams, .create),
    .body(#"{"message-storage-policy":2,"push-type":"LiveActivity"}"#, .badRequestParams, .create),
    .body(
      #"{"message-storage-policy":"1","push-type":"LiveActivity"}"#, .badRequestParams, .create),
    .body(String(repeating: " ", count: 5121), .payloadTooLarge, .create),
    WrongCall("beyond the limit", .cannotCreateChannelConfig, .create) { _, context in
      context.channelLimit = 2
    },
  ]

  private static let reads: [WrongCall] = [
    .header("apns-channel-id", nil, .missingChannelID, .read),
    .header("apns-channel-id", nil, .missingChannelID, .delete),
    .header("apns-channel-id", "YQ==", .badPath, .read),
    .header("apns-channel-id", "YQ==", .badPath, .delete),
    .header("apns-channel-id", Fixture.deleted, .badPath, .delete),
    .header(":path", "/1/apps/com.example.driver/channels", .badPath, .read),
    .body("{}", .badRequestPayload, .read),
    .body("{}", .badRequestPayload, .list),
  ]

  private static let broadcasts: [WrongCall] = [
    .header("apns-channel-id", nil, .missingChannelID, .broadcast),
    .header("apns-push-type", nil, .missingPushType, .broadcast),
    .header("apns-push-type", "alert", .invalidPushType, .broadcast),
    .header("apns-expiration", nil, .badExpirationDate, .broadcast),
    .header("apns-expiration", "300", .badExpirationDate, .broadcast),
    .header("apns-channel-id", Fixture.storingNothing, .badExpirationDate, .broadcast),
    .header("apns-priority", nil, .badPriority, .broadcast),
    .header("apns-priority", "7", .badPriority, .broadcast),
    .header("apns-channel-id", "YQ==", .badChannelID, .broadcast),
    .header("apns-channel-id", "no base64!", .badChannelID, .broadcast),
    .header("apns-channel-id", Fixture.deleted, .channelNotRegistered, .broadcast),
    // The known order of APNs' checks: each reason hides all later ones.
    WrongCall("of a deleted channel without priority", .badPriority, .broadcast) { request, _ in
      request.set("apns-channel-id", Fixture.deleted)
      request.set("apns-priority", nil)
      request.setBody("")
    },
  ]

  private static let payloads: [WrongCall] = [
    .body("", .payloadEmpty, .broadcast),
    .body(padded(to: 5121), .payloadTooLarge, .broadcast),
    .body("{}", .badPayload, .broadcast),
    .body(#"{"aps":{"even":"update"}}"#, .badPayload, .broadcast),
    .body(Fixture.start, .invalidPushType, .broadcast),
    .body(
      Fixture.activity(#""event":"update","content-state":{}"#, timestamp: "1790000000.0"),
      .badPayload, .broadcast),
    .body(Fixture.activity(#""event":"update""#), .invalidPushType, .broadcast),
    .body(#"{"aps":{"event":"end"}}"#, .invalidPushType, .broadcast),
    .body(padded(to: 5120), .invalidPushType, .broadcast),
    .body(
      Fixture.activity(#""event":"update","content-state":{},"relevance-score":"high""#),
      .badPayload, .broadcast),
    .body(
      Fixture.activity(#""event":"update","content-state":{},"sound":"default""#),
      .invalidPushType, .broadcast),
  ]

  /// An update of `count` bytes.
  static func padded(to count: Int) -> String {
    let bare = Fixture.activity(#""event":"update","content-state":{"x":""}"#)
    let fill = String(repeating: "x", count: count - bare.utf8.count)
    return Fixture.activity(#""event":"update","content-state":{"x":"\#(fill)"}"#)
  }

  /// A correct update of `count` bytes: the card's own data is small.
  static func long(_ count: Int) -> String {
    let update = #"{"aps":{"timestamp":\#(Fixture.now),"event":"update","content-state":{}}"#
    let fill = String(repeating: "x", count: count - update.utf8.count - #","x":""}"#.utf8.count)
    return update + #","x":"\#(fill)"}"#
  }
}
