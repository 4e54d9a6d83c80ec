import Foundation
import RideCore
import Testing
import TestSupport

@testable import PushClient

/// Keys and certificates on real connections.
@Suite struct TransportCredentialTests {
  private static func push(
    _ number: UInt64, _ app: App = .customer, _ type: PushType = .alert
  ) -> PushRequest {
    var request = PushRequest.test(number, topic: "com.example.\(app)")
    request.lane = app.rawValue
    request.headers.pushType = type
    return request
  }

  @Test func `R99: in-flight pushes finish with the old key, queued ones leave with the new one`()
    async throws
  {
    let fixtures = try Fixtures.shared.get()
    let server = try await FaultServer(
      #"""
      {"connections": [{"streams": 2, "answers": [{"status": 200}, {"status": 200, "after": 2},
        {"status": 200}]}, {}]}
      """#)
    let client = try TestClient(server.url) { $0.maxConnections = 1 }
    #expect(await client.send(.test(1)) == .accepted)
    let requests = (2...11).map { PushRequest.test($0) }
    async let outcomes = client.send(requests)
    try await wait(until: "two pushes are in flight and eight wait") {
      let statistics = client.client.statistics(of: .production)
      return statistics.inFlight == 2 && statistics.queued == 8
    }
    client.client.use(Credentials(key: try fixtures.key("next.p8", "NEXT567890")))
    #expect(await outcomes.allSatisfy { $0 == .accepted })
    await client.wait { $0 == .closed("its key or certificate was replaced") }
    #expect(client.client.statistics().map(\.credential) == ["NEXT567890", "NEXT567890"])
    await client.close()
    let lines = await server.stop()
    #expect(lines.keysByConnection == [0: ["ABCDE12345"], 1: ["NEXT567890"]])
    #expect(lines.requests.count { $0.connection == 0 } == 3)
    #expect(Set(lines.requestIDs).count == 11 && lines.requestIDs.count == 11, "none twice")
  }

  @Test func `R99: what APNs did not process on the old connection leaves with the new key`()
    async throws
  {
    let fixtures = try Fixtures.shared.get()
    let server = try await FaultServer(
      #"""
      {"connections": [{"answers": [{"status": 200},
        {"goaway": 1, "reason": "Shutdown", "close": true, "after": 2}]}, {}]}
      """#)
    let client = try TestClient(server.url) { $0.maxConnections = 1 }
    #expect(await client.send(.test(1)) == .accepted)
    async let second = client.send(.test(2))
    await server.wait { $0.headers?["apns-id"] == PushRequest.test(2).idText }
    client.client.use(Credentials(key: try fixtures.key("next.p8", "NEXT567890")))
    #expect(await client.send(.test(3)) == .accepted)
    #expect(await second == .accepted)
    await client.close()
    let lines = await server.stop()
    #expect(lines.keysByConnection == [0: ["ABCDE12345"], 1: ["NEXT567890"]])
    let twice = lines.requests.filter { $0.headers?["apns-id"] == PushRequest.test(2).idText }
    #expect(twice.map(\.keyID) == ["ABCDE12345", "NEXT567890"])
  }

  @Test func `R99: equal credentials keep their connection, another file of the same ID does not`()
    async throws
  {
    let fixtures = try Fixtures.shared.get()
    let server = try await FaultServer(#"{"connections": [{}]}"#)
    let client = try TestClient(server.url)
    for number in 1...3 as ClosedRange<UInt64> {
      #expect(await client.send(.test(number)) == .accepted)
      client.client.use(Credentials(key: try fixtures.key()))
    }
    client.client.use(Credentials(key: try fixtures.key("next.p8")))
    #expect(await client.send(.test(4)) == .accepted)
    await client.close()
    let lines = await server.stop()
    #expect(lines.requests.map(\.connection) == [0, 0, 0, 1])
  }

  @Test func `R99: each connection has one key, whatever the order of the apps`() async throws {
    let fixtures = try Fixtures.shared.get()
    let server = try await FaultServer(#"{"connections": [{"streams": 5}]}"#)
    let (first, second) = (try fixtures.key(), try fixtures.key("next.p8", "NEXT567890"))
    let client = try TestClient(
      server.url,
      credentials: Credentials(
        lanes: [
          .init(.customer, .production): .init(key: first),
          .init(.driver, .production): .init(key: second),
          .init(App(rawValue: "food_courier"), .production): .init(key: second),
        ], bundleIDs: [:]))
    let apps = [App.customer, .driver, App(rawValue: "food-courier")]
    let requests = (0..<90).map { Self.push(UInt64($0), apps[$0 % 3]) }
    #expect(await client.send(requests).allSatisfy { $0 == .accepted })
    let missing = await client.send(Self.push(91, App(rawValue: "other")))
    guard case .unsent(.noCredential(let text)) = missing else { throw TestFailure("\(missing)") }
    #expect(text.contains("APNS_OTHER_PRIVATE_KEY_PATH"), "\(text)")
    await client.close()
    let lines = await server.stop()
    #expect(lines.keysByConnection.values.allSatisfy { $0.count == 1 })
    for line in lines.requests {
      let isFirst = line.headers?["apns-topic"] == "com.example.customer"
      #expect(line.keyID == (isFirst ? "ABCDE12345" : "NEXT567890"))
    }
    #expect(lines.requests.count == 90)
  }

  @Test func `R105: a certificate takes the place of the token, except for cards`() async throws {
    let fixtures = try Fixtures.shared.get()
    let server = try await FaultServer(
      #"{"client_ca": "\#(fixtures.path("ca.pem"))", "connections": [{}]}"#)
    let certificate = try fixtures.clientCertificate()
    let client = try TestClient(
      server.url,
      credentials: Credentials(
        lanes: [
          .init(.driver, .production): .init(key: try fixtures.key(), certificate: certificate),
          .init(.customer, .production): .init(certificate: certificate),
        ], bundleIDs: [:]))
    #expect(await client.send(Self.push(1, .driver)) == .accepted)
    #expect(await client.send(Self.push(2, .driver, .liveactivity)) == .accepted)
    #expect(await client.send(Self.push(3, .customer, .background)) == .accepted)
    let card = await client.send(Self.push(4, .customer, .liveactivity))
    guard case .unsent(.noCredential(let text)) = card else { throw TestFailure("\(card)") }
    #expect(text.contains("liveactivity pushes need a signing key"), "\(text)")
    await client.close()
    let lines = await server.stop()
    let peers = lines.filter { $0.event == "peer" }.map(\.text)
    #expect(peers == ["Push", ""], "both apps share the certificate's connection")
    #expect(lines.requests.map(\.connection) == [0, 1, 0])
    #expect(lines.requests.map(\.keyID) == [nil, "ABCDE12345", nil])
    #expect(
      lines.requests.allSatisfy { ($0.headers?["authorization"] != nil) == ($0.connection == 1) })
  }

  @Test func `R116: a client certificate that APNs refuses is reported as such`() async throws {
    let fixtures = try Fixtures.shared.get()
    let server = try await FaultServer(
      #"{"client_ca": "\#(fixtures.path("ca.pem"))", "connections": [{}]}"#)
    let stranger = try fixtures.clientCertificate("stranger.pem")
    let client = try TestClient(
      server.url, requestTimeout: .seconds(10),
      credentials: Credentials(
        lanes: [.init(.driver, .production): .init(certificate: stranger)], bundleIDs: [:]))
    let outcome = await client.send(Self.push(1, .driver))
    guard case .unsent(.certificateRefused(let text)) = outcome else {
      throw TestFailure("\(outcome)")
    }
    // The server may close the connection before curl has read its alert.
    #expect(text.contains("unknown ca") || text.contains("not connected"), "\(text)")
    await client.close()
    #expect(await server.stop().requests.isEmpty)
  }
}
