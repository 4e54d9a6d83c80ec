@testable import APNSSimulator

extension Wrong {
  static let requests: [Wrong] = [
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
    .header(":path", "/3/device/" + String(repeating: "a", count: 202), .badDeviceToken),
    Wrong("apns-id twice", .duplicateHeaders) { request, _ in
      request.headers.append(Header(name: "apns-id", value: "x"))
    },
  ]

  static let headers: [Wrong] = [
    .header("apns-push-type", nil, .invalidPushType),
    .header("apns-push-type", "Alert", .invalidPushType),
    .header("apns-push-type", "mdm", .invalidPushType),
    .header("apns-topic", nil, .missingTopic),
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
    .header("apns-priority", "1", .badPriority, type: .liveactivity),
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

  static let providerTokens: [Wrong] = [
    .header("authorization", nil, .missingProviderToken),
    .header("authorization", Fixture.jwt, .invalidProviderToken),
    .header("authorization", "Bearer " + Fixture.jwt, .invalidProviderToken),
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
    .jwt("301 s ahead") { $0 = JWT(issuedAt: Fixture.now + 301) },
    .jwt("3601 s old", .expiredProviderToken) { $0 = JWT(issuedAt: Fixture.now - 3601) },
    .jwt("least integer", .expiredProviderToken) { $0 = JWT(issuedAt: .min) },
    .jwt("with a DER signature") { $0.form = .der },
    Wrong("second iat within 20 minutes", .tooManyProviderTokenUpdates) { _, context in
      context.adoptedToken = AdoptedToken(
        issuedAt: Fixture.now - 1800, adoptedAt: Fixture.now - 1199)
    },
  ]

  static let deviceTokens: [Wrong] = [
    .device("of the sandbox", .badDeviceToken, DeviceToken(environment: .sandbox)),
    .device("of the driver", .deviceTokenNotForTopic, DeviceToken(topic: "com.example.driver")),
    .device("unregistered", .unregistered, DeviceToken(unregisteredSince: 1_789_999_999_000)),
    .device("expired", .expiredToken, DeviceToken(expiredSince: 1_789_999_999_000)),
  ]
}
