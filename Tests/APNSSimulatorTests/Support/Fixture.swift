import Foundation
import Synchronization

@testable import APNSSimulator
@testable import SimulatorKit

/// A correct push, into which tests introduce one mistake at a time.
enum Fixture {
  static let now = 1_790_000_000
  static let token = String(repeating: "ab", count: 32)

  /// One key for all tests of rules; its private half is in a file for `openssl`.
  private static let keyPair: (publicPEM: [UInt8], path: String) = {
    do {
      let key = try SigningKey.generate()
      let path = FileManager.default.temporaryDirectory.path + "/apns-\(UUID().uuidString).p8"
      try Data(try key.privatePEM()).write(to: URL(fileURLWithPath: path))
      return (try key.publicPEM(), path)
    } catch {
      preconditionFailure("no key: \(error)")
    }
  }()

  /// Each text is signed and verified once, although the tables use it a thousand times.
  private static let signed = Mutex<[JWT: String]>([:])
  private static let readings = Mutex<[String: ProviderToken?]>([:])

  static let jwt = sign(JWT(issuedAt: now - 600))

  static func sign(_ jwt: JWT) -> String {
    signed.withLock { known in
      if let text = known[jwt] { return text }
      let text = (try? jwt.signed(keyPath: keyPair.path)) ?? "unsigned"
      known[jwt] = text
      return text
    }
  }

  private static func read(_ jwt: String) -> ProviderToken? {
    readings.withLock { known in
      if let reading = known[jwt] { return reading }
      let key = try? SigningKey(publicPEM: keyPair.publicPEM)
      let reading = ProviderToken.read(jwt) { key?.verifies(signed: $1, signature: $2) ?? false }
      known[jwt] = .some(reading)
      return reading
    }
  }

  /// The usual key, one for each mistake about keys, and two related ones of the customer's app.
  static let keys = KeyRing([
    "SIMKEY0001": ProviderKey(team: "SIMTEAM001"),
    "TEAMKEY002": ProviderKey(team: "SIMTEAM001", environments: [.production]),
    "REVOKED001": ProviderKey(team: "SIMTEAM001", isRevoked: true),
    "SANDBOX001": ProviderKey(team: "SIMTEAM001", environments: [.sandbox]),
    "DRIVERKEY1": ProviderKey(team: "SIMTEAM001", topics: ["com.example.driver"]),
    "CUSTOMER01": ProviderKey(
      team: "SIMTEAM001", topics: ["com.example.customer"], related: "CUSTOMER02"),
    "CUSTOMER02": ProviderKey(team: "SIMTEAM001", topics: ["com.example.customer"]),
    "OTHERTEAMK": ProviderKey(team: "OTHERTEAM1"),
  ])

  static func certificate(
    _ name: String = "Apple Push Services: com.example.customer"
  ) -> ClientCertificate {
    ClientCertificate(PeerCertificate(commonName: name, userIDs: [], serial: "01"))
  }

  static var context: RuleContext {
    RuleContext(
      now: now, keys: keys, bundleIDs: ["com.example.customer", "com.example.driver"],
      environment: .production,
      deviceTokens: DeviceTokenRegistry(), strictness: .all, adoptedToken: nil,
      readProviderToken: read)
  }

  static func request(_ type: PushType = .alert) -> Request {
    var request = Request()
    request.headers = [
      Header(name: ":method", value: "POST"),
      Header(name: ":scheme", value: "https"),
      Header(name: ":authority", value: "127.0.0.1"),
      Header(name: ":path", value: "/3/device/\(token)"),
      Header(name: "authorization", value: "bearer \(jwt)"),
      Header(name: "apns-push-type", value: type.rawValue),
      Header(name: "apns-topic", value: "com.example.customer" + type.topicSuffix),
      Header(name: "apns-priority", value: type == .background ? "5" : "10"),
      Header(name: "apns-expiration", value: String(now + 300)),
      Header(name: "apns-id", value: "123e4567-e89b-12d3-a456-426614174000"),
      Header(name: "apns-collapse-id", value: "ride-1"),
      Header(name: "content-type", value: "application/json"),
    ]
    request.setBody(payload(type))
    return request
  }

  static func payload(_ type: PushType) -> String {
    switch type {
    case .alert:
      #"{"aps":{"alert":{"title":"Here","body":"White car"},"sound":"default"},"ride":"r1"}"#
    case .background: #"{"aps":{"content-available":1},"kind":"heartbeat"}"#
    case .liveactivity: update
    case .widgets, .controls: #"{"aps":{"content-changed":true}}"#
    case .mdm: #"{"mdm":"magic"}"#
    default: #"{"aps":{}}"#
    }
  }

  static let update = activity(#""event":"update","content-state":{"eta":3}"#)

  static let startMembers =
    #"""
    "event":"start","content-state":{"eta":3},"attributes-type":"RideAttributes",
    "attributes":{"rideId":"r1"},"alert":{"title":"Here","body":{"loc-key":"B"}}
    """#

  static let start = activity(startMembers)

  /// What the simulator keeps of an accepted push with this body.
  static func cardPush(_ body: String) -> CardPush? {
    var request = request(.liveactivity)
    request.setBody(body)
    return CardPush(Push(request, in: context))
  }

  static func activity(_ members: String, timestamp: String = String(now)) -> String {
    #"{"aps":{"timestamp":\#(timestamp),\#(members)}}"#
  }
}

extension Request {
  mutating func setBody(_ text: String) {
    body = Array(text.utf8)
    bodyBytes = body.count
  }

  mutating func set(_ name: String, _ value: String?) {
    guard let index = headers.firstIndex(where: { $0.name == name }) else { return }
    if let value {
      headers[index] = Header(name: name, value: value)
    } else {
      headers.remove(at: index)
    }
  }
}
