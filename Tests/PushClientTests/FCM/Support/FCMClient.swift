import Base
import Foundation
import RideCore
import Testing

@testable import PushClient

/// Two fault servers, one in place of FCM and one in place of Google's token endpoint, and a client
/// that sends to them.
struct FCMServers {
  let fcm: FaultServer
  let tokens: FaultServer
  let client: TestClient

  /// Answers of a token endpoint that gives `first`, `second` and so on, each for an hour.
  static let tokens = ["first", "second", "third"].map { token(#"\"access_token\":\"\#($0)\""#) }

  /// One answer of the token endpoint; quotation marks of `members` are escaped.
  static func token(_ members: String, life: Int = 3599) -> String {
    #"{"status": 200, "body": "{\#(members),\"expires_in\":\#(life)}"}"#
  }

  /// - Parameters:
  ///   - connections: The script of FCM's connections.
  ///   - answers: What the token endpoint answers, one connection each.
  ///   - certificate: The file of the certificate that FCM presents.
  init(
    _ connections: String, tokens answers: [String] = Self.tokens,
    certificate: String = "server.pem", requestTimeout: Duration = .seconds(60),
    change: (inout APNsConfiguration) -> Void = { _ in }
  ) async throws {
    fcm = try await FaultServer(
      #"{"connections": [\#(connections)]}"#, certificate: certificate)
    let scripts = answers.map { #"{"http1": true, "answers": [\#($0)]}"# }.joined(separator: ", ")
    tokens = try await FaultServer(#"{"connections": [\#(scripts)]}"#)
    client = try TestClient(
      fcm: fcm.url, tokenURI: tokens.url + "/token", requestTimeout: requestTimeout,
      change: change)
  }

  func send(_ numbers: ClosedRange<UInt64>) async -> [PushOutcome] {
    await client.send(numbers.map { .message($0) })
  }

  func send(_ number: UInt64) async -> PushOutcome { await client.send(.message(number)) }

  /// Ends all of it and returns what the servers received.
  func stop() async -> (fcm: [FaultServer.Line], tokens: [FaultServer.Line]) {
    await client.close()
    return (await fcm.stop(), await tokens.stop())
  }
}

extension TestClient {
  /// A client that has a service account for every app, and no key for APNs.
  init(
    fcm url: String, tokenURI: String, requestTimeout: Duration = .seconds(60),
    change: (inout APNsConfiguration) -> Void = { _ in }
  ) throws {
    var file = try AccountFile()
    file.members["token_uri"] = tokenURI
    let endpoint = try APNsEndpoint(url)
    let authority = try Fixtures.shared.get().path("ca.pem")
    try self.init(
      url, requestTimeout: requestTimeout,
      credentials: Credentials(lanes: [:], bundleIDs: [:], serviceAccount: try file.account())
    ) {
      $0.fcm = endpoint
      $0.fcmCAFile = authority
      change(&$0)
    }
  }
}

extension PushRequest {
  /// A message to an Android phone, with a number that distinguishes it from others.
  static func message(_ number: UInt64, network: PushNetwork = .android) -> PushRequest {
    let id = PushID(of: "message", String(number))
    return PushRequest(
      ticket: number, network: network, address: .registration(.test),
      headers: PushHeaders(
        id: id, topic: "", pushType: .alert, priority: .immediate, expiration: .neverStore),
      payload: Array(
        #"{"message":{"android":{"priority":"HIGH","ttl":"0s"},"data":{"rp_id":"\#(id)"},"fid":"\#(FCMRegistration.test.text)"}}"#
          .utf8))
  }
}

extension FCMRegistration {
  static var test: FCMRegistration {
    guard let registration = FCMRegistration("cX3abcdefghijklmnopqrs") else {
      preconditionFailure("an installation ID of letters")
    }
    return registration
  }
}

extension [FaultServer.Line] {
  /// The bearer tokens of the requests, in their order.
  var bearers: [String] {
    requests.map { String($0.headers?["authorization"]?.dropFirst("Bearer ".count) ?? "") }
  }
}

extension PushOutcome {
  /// The outcome without Google's sentence and clock.
  var bare: PushOutcome {
    guard case .refused(var refusal) = self else { return self }
    (refusal.detail, refusal.serverTime) = (nil, nil)
    return .refused(refusal)
  }
}
