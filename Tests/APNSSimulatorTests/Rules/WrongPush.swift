import Testing

@testable import APNSSimulator
@testable import SimulatorKit

/// One mistake in a correct push, and the reason that must be returned.
struct WrongPush: Sendable, CustomTestStringConvertible {
  let name: String
  let reason: Reason
  let type: PushType
  let change: @Sendable (inout Request, inout RuleContext) -> Void

  init(
    _ name: String, _ reason: Reason, type: PushType = .alert,
    change: @escaping @Sendable (inout Request, inout RuleContext) -> Void
  ) {
    self.name = name
    self.reason = reason
    self.type = type
    self.change = change
  }

  static func header(
    _ name: String, _ value: String?, _ reason: Reason, type: PushType = .alert
  ) -> WrongPush {
    WrongPush("\(type) \(name): \(value ?? "missing")", reason, type: type) { request, _ in
      request.set(name, value)
    }
  }

  static func payload(_ text: String, _ reason: Reason, type: PushType = .alert) -> WrongPush {
    WrongPush("\(type) payload \(text.prefix(60))", reason, type: type) { request, _ in
      request.setBody(text)
    }
  }

  static func jwt(
    _ name: String, _ reason: Reason = .invalidProviderToken,
    _ change: @escaping @Sendable (inout JWT) -> Void
  ) -> WrongPush {
    WrongPush("JWT " + name, reason) { request, _ in
      var jwt = JWT(issuedAt: Fixture.now - 600)
      change(&jwt)
      request.set("authorization", "bearer " + Fixture.sign(jwt))
    }
  }

  static func device(
    _ name: String, _ reason: Reason, _ entry: DeviceToken
  ) -> WrongPush {
    WrongPush("token " + name, reason) { _, context in context.deviceTokens[Fixture.token] = entry }
  }

  func result(by rules: [Rule] = PushRules.rules) -> RuleResult {
    var request = Fixture.request(type)
    var context = Fixture.context
    change(&request, &context)
    return PushRules.evaluate(Push(request, in: context), by: rules)
  }

  var testDescription: String { name }
}

extension WrongPush {
  static let requests: [WrongPush] = [
    .header(":method", "GET", .methodNotAllowed),
    .header(":scheme", "http", .badPath),
    .header(":path", "/4/device/\(Fixture.token)", .badPath),
    .header(":path", "/3/device/\(Fixture.token)/x", .badPath),
    .header(":path", "/", .badPath),
    .header(":path", "/3/device/", .missingDeviceToken),
    .header(":path", "/3/device", .missingDeviceToken),
    .header(":path", "/3/device/abcd", .badDeviceToken),
    .header(":path", "/3/device/a\(Fixture.token)", .badDeviceToken),
    .header(":path", "/3/device/\(Fixture.token)?", .badDeviceToken),
    .header(":path", "/3/device/" + String(repeating: "xy", count: 32), .badDeviceToken),
    .header(":path", "/3/device/" + String(repeating: "a", count: 514), .badDeviceToken),
    WrongPush("apns-id twice", .duplicateHeaders) { request, _ in
      request.headers.append(Header(name: "apns-id", value: "x"))
    },
  ]

  static let headers: [WrongPush] = [
    .header("apns-push-type", nil, .invalidPushType),
    .header("apns-push-type", "Alert", .invalidPushType),
    .header("apns-push-type", "silent", .invalidPushType),
    .header("apns-topic", nil, .missingTopic),
    WrongPush("no topic, and a certificate with one", .missingTopic) { request, context in
      context.certificate = Fixture.certificate()
      request.set("apns-topic", nil)
    },
    WrongPush("no topic anywhere", .missingTopic) { request, context in
      context.strictness = .standard
      request.set("apns-topic", nil)
    },
    .header("apns-topic", "customer", .badTopic),
    .header("apns-topic", "com.example.", .badTopic),
    .header("apns-topic", "com.example.other", .topicDisallowed),
    .header("apns-topic", "com.example.customer.push-type.liveactivity", .topicDisallowed),
    .header("apns-topic", "com.example.customer", .topicDisallowed, type: .liveactivity),
    .header(
      "apns-topic", "com.example.customer.Widget.push-type.liveactivity", .topicDisallowed,
      type: .liveactivity),
    .header("apns-topic", "com.example.customer", .topicDisallowed, type: .voip),
    .header("apns-priority", nil, .badPriority),
    .header("apns-priority", "7", .badPriority),
    .header("apns-priority", "010", .badPriority),
    .header("apns-priority", "10", .badPriority, type: .background),
    .header("apns-priority", "1", .badPriority, type: .background),
    WrongPush("a background push of the default priority", .badPriority, type: .background) {
      $1.strictness = .standard
      $0.set("apns-priority", nil)
    },
    .header("apns-expiration", nil, .badExpirationDate),
    .header("apns-expiration", "", .badExpirationDate),
    .header("apns-expiration", "-1", .badExpirationDate),
    .header("apns-expiration", "00", .badExpirationDate),
    .header("apns-expiration", "1790000300.5", .badExpirationDate),
    .header("apns-expiration", "300", .badExpirationDate),
    .header("apns-expiration", "1790000300000", .badExpirationDate),
    .header("apns-expiration", "99999999999999999999", .badExpirationDate),
    .header("apns-id", nil, .badMessageID),
    .header("apns-id", "123E4567-E89B-12D3-A456-426614174000", .badMessageID),
    .header("apns-id", "123e4567e89b12d3a456426614174000", .badMessageID),
    .header("apns-id", "123e4567-e89b-12d3-a456-42661417400g", .badMessageID),
    .header("apns-collapse-id", "", .badCollapseID),
    .header("apns-collapse-id", String(repeating: "ü", count: 33), .badCollapseID),
    .header("content-type", "text/plain", .badContentType),
  ]

  static let providerTokens: [WrongPush] = [
    .header("authorization", nil, .missingProviderToken),
    .header("authorization", Fixture.jwt, .invalidProviderToken),
    .header("authorization", "Basic " + Fixture.jwt, .invalidProviderToken),
    .header("authorization", "bearer a.b", .invalidProviderToken),
    .header("authorization", "bearer " + Fixture.jwt + "=", .invalidProviderToken),
    .header("authorization", "bearer " + Fixture.jwt.dropLast(4) + "AAAA", .invalidProviderToken),
    .jwt("alg HS256") { $0.header = #"{"alg":"HS256","kid":"SIMKEY0001"}"# },
    .jwt("no kid") { $0.header = #"{"alg":"ES256"}"# },
    .jwt("kid of another key") { $0.header = #"{"alg":"ES256","kid":"OTHERKEY01"}"# },
    .jwt("iss of another team") { $0.claims = #"{"iss":"OTHERTEAM1","iat":1789999400}"# },
    .jwt("iat a string") { $0.claims = #"{"iss":"SIMTEAM001","iat":"1789999400"}"# },
    .jwt("iat a fraction") { $0.claims = #"{"iss":"SIMTEAM001","iat":1789999400.0}"# },
    .jwt("iat twice") { $0.claims = #"{"iss":"SIMTEAM001","iat":1789999400,"iat":1789999400}"# },
    .jwt("no iat") { $0.claims = #"{"iss":"SIMTEAM001"}"# },
    .jwt("in milliseconds") { $0 = JWT(issuedAt: Fixture.now * 1000) },
    .jwt("iat a word") { $0.claims = #"{"iss":"SIMTEAM001","iat":"now"}"# },
    .jwt("3601 s ahead") { $0 = JWT(issuedAt: Fixture.now + 3601) },
    .jwt("301 s ahead") { $0 = JWT(issuedAt: Fixture.now + 301) },
    .jwt("3601 s old", .expiredProviderToken) { $0 = JWT(issuedAt: Fixture.now - 3601) },
    .jwt("least integer", .expiredProviderToken) { $0 = JWT(issuedAt: .min) },
    .jwt("with a DER signature") { $0.form = .der },
    WrongPush("second iat within 20 minutes", .tooManyProviderTokenUpdates) { _, context in
      context.adoptedToken = AdoptedToken(
        token: TokenIdentity(keyID: "SIMKEY0001", issuedAt: Fixture.now - 1800),
        adoptedAt: Fixture.now - 1199)
    },
  ]

  /// A correct token of another key.
  static func key(_ id: String, _ reason: Reason) -> WrongPush {
    jwt("of \(id)", reason) { $0 = JWT(issuedAt: Fixture.now - 600, keyID: id) }
  }

  static func key(_ id: String, after first: String, _ reason: Reason) -> WrongPush {
    WrongPush("JWT of \(id) after \(first)", reason) { request, context in
      context.adoptedToken = AdoptedToken(
        token: TokenIdentity(keyID: first, issuedAt: Fixture.now - 600),
        adoptedAt: Fixture.now - 1200)
      let jwt = JWT(issuedAt: Fixture.now - 600, keyID: id)
      request.set("authorization", "bearer " + Fixture.sign(jwt))
    }
  }

  static func certificate(
    _ name: String, _ reason: Reason, type: PushType = .alert
  ) -> WrongPush {
    WrongPush("\(type) with certificate \(name)", reason, type: type) { _, context in
      context.certificate = Fixture.certificate(name)
    }
  }

  static let credentials: [WrongPush] = [
    .key("REVOKED001", .invalidProviderToken),
    .key("OTHERTEAMK", .invalidProviderToken),
    .key("SANDBOX001", .badEnvironmentKeyID),
    .key("DRIVERKEY1", .forbidden),
    .key("CUSTOMER01", after: "SIMKEY0001", .unrelatedKeyID),
    .key("SIMKEY0001", after: "CUSTOMER01", .unrelatedKeyID),
    .key("CUSTOMER01", after: "DRIVERKEY1", .unrelatedKeyID),
    .key("SIMKEY0001", after: "OTHERTEAMK", .unrelatedKeyID),
    .key("SIMKEY0001", after: "GONEKEY001", .unrelatedKeyID),
    WrongPush("another key within 20 minutes", .tooManyProviderTokenUpdates) { _, context in
      context.adoptedToken = AdoptedToken(
        token: TokenIdentity(keyID: "TEAMKEY002", issuedAt: Fixture.now - 600),
        adoptedAt: Fixture.now - 1199)
    },
    .certificate("Apple Push Services: com.example.driver", .topicDisallowed),
    .certificate("nobody", .badCertificate),
    .certificate(
      "Apple Development IOS Push Services: com.example.customer", .badCertificateEnvironment),
    .certificate(
      "Apple Push Services: com.example.customer", .topicDisallowed, type: .liveactivity),
    .certificate("Apple Push Services: com.example.customer", .topicDisallowed, type: .location),
  ]

  static let deviceTokens: [WrongPush] = [
    .device("of the sandbox", .badDeviceToken, DeviceToken(environment: .sandbox)),
    .device("of the driver", .deviceTokenNotForTopic, DeviceToken(topic: "com.example.driver")),
    .device("unregistered", .unregistered, DeviceToken(unregisteredSince: 1_789_999_999_000)),
    .device("expired", .expiredToken, DeviceToken(expiredSince: 1_789_999_999_000)),
    WrongPush("token beyond its rate", .tooManyRequests) { $1.isOverTokenRate = true },
  ]
}

extension WrongPush {
  static let payloads: [WrongPush] = [
    .payload("", .payloadEmpty),
    .payload("null", .badPayload),
    .payload("[]", .badPayload),
    .payload("{}", .badPayload),
    .payload(#"{"aps":[]}"#, .badPayload),
    .payload(#"{"aps":{"alert":"x"}"#, .badPayload),
    .payload(#"{"aps":{"alert":"x"},"aps":{"alert":"y"}}"#, .badPayload),
    .payload(#"{"aps":{"alert":"x","ride":"own key"}}"#, .badPayload),
    .payload(#"{"aps":{"alert":"x","badge":"1"}}"#, .badPayload),
    .payload(#"{"aps":{"alert":"x","interruption-level":"urgent"}}"#, .badPayload),
    .payload(#"{"aps":{"alert":"x","sound":""}}"#, .badPayload),
    .payload(#"{"aps":{"alert":"x","badge":2.0}}"#, .badPayload),
    .payload(String(repeating: "[", count: 4000), .badPayload),
    .payload("[]", .badPayload, type: .location),
    .payload(#"{"aps":{"alert":"x","content-changed":true}}"#, .invalidPushType),
    .payload(#"{"aps":{}}"#, .invalidPushType, type: .widgets),
    .payload(#"{"aps":{"content-changed":true,"alert":"x"}}"#, .invalidPushType, type: .controls),
    .payload(padded(to: 4097), .payloadTooLarge),
    .payload(padded(to: 5121), .payloadTooLarge, type: .voip),
  ]

  static let alerts: [WrongPush] = [
    .payload(#"{"aps":{}}"#, .invalidPushType),
    .payload(#"{"aps":{"alert":""}}"#, .invalidPushType),
    .payload(#"{"aps":{"alert":{}}}"#, .invalidPushType),
    .payload(#"{"aps":{"alert":{"title":"","body":"x"}}}"#, .invalidPushType),
    .payload(#"{"aps":{"alert":{"title":"x","body":""}}}"#, .invalidPushType),
    .payload(#"{"aps":{"alert":{"title":1}}}"#, .invalidPushType),
    .payload(#"{"aps":{"alert":{"title":"x","text":"y"}}}"#, .invalidPushType),
    .payload(#"{"aps":{"alert":{"loc-key":"K","loc-args":[1]}}}"#, .invalidPushType),
    .payload(#"{"aps":{"alert":"x","relevance-score":1.5}}"#, .invalidPushType),
    .payload(#"{"aps":{"alert":"x","relevance-score":-1}}"#, .invalidPushType),
    .payload(#"{"aps":{"alert":"x","event":"update"}}"#, .invalidPushType),
    .payload(#"{"aps":{"alert":"x","content-state":{}}}"#, .invalidPushType),
    .payload(#"{"aps":{"content-available":1}}"#, .invalidPushType),
  ]

  static let backgrounds: [WrongPush] = [
    .payload(#"{"aps":{}}"#, .invalidPushType, type: .background),
    .payload(#"{"aps":{"content-available":true}}"#, .badPayload, type: .background),
    .payload(#"{"aps":{"content-available":1,"alert":"x"}}"#, .invalidPushType, type: .background),
    .payload(#"{"aps":{"content-available":1,"badge":0}}"#, .invalidPushType, type: .background),
    .payload(
      #"{"aps":{"content-available":1,"sound":"default"}}"#, .invalidPushType, type: .background),
  ]

  static let liveActivities: [WrongPush] = [
    activity(#""content-state":{}"#),
    activity(#""event":"stop","content-state":{}"#),
    activity(#""event":"update""#),
    activity(#""event":"update","content-state":[]"#),
    activity(#""event":"update","content-state":{},"attributes":{}"#),
    activity(#""event":"update","content-state":{}"#, timestamp: "1790000000.5"),
    activity(#""event":"update","content-state":{}"#, timestamp: #""1790000000""#),
    activity(#""event":"update","content-state":{}"#, timestamp: "1790000000000"),
    activity(#""event":"update","content-state":{}"#, timestamp: "1789900000"),
    activity(#""event":"update","content-state":{}"#, timestamp: "1790028801"),
    activity(#""event":"end""#, timestamp: "1790000000000"),
    activity(#""event":"update","content-state":{},"stale-date":1790000120.5"#),
    activity(#""event":"update","content-state":{},"stale-date":1790000120000"#),
    activity(#""event":"update","content-state":{},"dismissal-date":1790000120"#),
    activity(#""event":"update","content-state":{},"alert":"x""#),
    activity(#""event":"update","content-state":{},"alert":{"title-loc-key":"K"}"#),
    activity(#""event":"update","content-state":{},"alert":{"title":""}"#),
    activity(#""event":"start","content-state":{},"attributes-type":"A","attributes":{}"#),
    activity(#""event":"start","content-state":{},"attributes":{},"alert":{"title":"x"}"#),
    activity(#""event":"start","content-state":{},"attributes-type":"A","alert":{"title":"x"}"#),
    activity(#""event":"end","dismissal-date":"now""#),
    activity(#""event":"update","content-state":{},"alert":{"title":"x"},"sound":"default""#),
    activity(#""event":"update","content-state":{},"badge":1"#),
    activity(#""event":"update","content-state":{},"interruption-level":"time-sensitive""#),
    activity(#""event":"update","content-state":{},"input-push-token":1"#),
    activity(Fixture.startMembers + #","input-push-token":1,"input-push-channel":"YQ==""#),
    activity(Fixture.startMembers + #","input-push-channel":"YQ==""#),
    after(#"{"aps":{"event":"update","timestamp":1789999990}}"#, timestamp: "1789999990"),
    after(#"{"aps":{"event":"update","timestamp":1789999990}}"#, timestamp: "1789999989"),
    after(#"{"aps":{"event":"end","timestamp":1789999990}}"#, timestamp: "1790000000"),
  ]

  /// An update of a card whose last push is known.
  private static func after(_ last: String, timestamp: String) -> WrongPush {
    WrongPush("timestamp \(timestamp) after \(last)", .invalidPushType, type: .liveactivity) {
      $0.setBody(Fixture.activity(#""event":"update","content-state":{}"#, timestamp: timestamp))
      $1.lastCardPush = Fixture.cardPush(last)
    }
  }

  static let all: [WrongPush] =
    requests + headers + providerTokens + credentials + deviceTokens + payloads + alerts
    + backgrounds
    + liveActivities

  private static func activity(
    _ members: String, timestamp: String = String(Fixture.now)
  ) -> WrongPush {
    .payload(
      Fixture.activity(members, timestamp: timestamp), .invalidPushType, type: .liveactivity)
  }

  static func padded(to bytes: Int) -> String {
    let frame = #"{"aps":{"alert":""}}"#
    let padding = String(repeating: "x", count: bytes - frame.utf8.count)
    return #"{"aps":{"alert":"\#(padding)"}}"#
  }
}
