import RideCore
import Testing

@testable import PushClient

/// Pushes to channels over connections that are also used for pushes to phones.
@Suite struct TransportBroadcastTests {
  private static func broadcast(_ number: UInt64, payload: Int = 12) throws -> PushRequest {
    let id = try #require(ChannelID("dHN0LXNyY2gtY2hubA=="))
    let scope = ChannelScope(bundleID: "com.example.customer", environment: .production)
    let channel = try #require(BroadcastChannel(id: id, scope: scope))
    var headers = PushRequest.test(number).headers
    headers.pushType = .liveactivity
    return PushRequest(
      ticket: number, network: .production, address: .channel(channel), headers: headers,
      payload: [UInt8](repeating: 0x20, count: payload))
  }

  @Test("R31: a broadcast has its channel in a header, its app in the path, and no topic")
  func headers() async throws {
    let server = try await FaultServer(#"{"connections": [{"answers": [{"status": 200}]}]}"#)
    let client = try TestClient(server.url)
    // Broadcasts alternate with pushes to phones, which have different headers.
    for request in [PushRequest.test(1), try Self.broadcast(2), .test(3), try Self.broadcast(4)] {
      #expect(await client.send(request) == .accepted)
    }
    await client.close()
    let heads = await server.stop().filter { $0.event == "request" }.map { $0.headers ?? [:] }
    #expect(heads.count == 4)
    for head in [heads[1], heads[3]] {
      #expect(head[":path"] == "/4/broadcasts/apps/com.example.customer")
      #expect(head["apns-channel-id"] == "dHN0LXNyY2gtY2hubA==")
      #expect(head["apns-push-type"] == "liveactivity")
      #expect(head["apns-expiration"] == "0")
      #expect(head["apns-priority"] == "10")
      #expect(Set(head.keys).isDisjoint(with: ["apns-topic", "apns-id", "apns-collapse-id"]))
    }
    #expect(heads[1]["apns-request-id"] == PushRequest.test(2).idText)
    for head in [heads[0], heads[2]] {
      #expect(head[":path"]?.hasPrefix("/3/device/") == true)
      #expect(head["apns-topic"] == "com.example.customer")
      #expect(head["apns-id"] != nil)
      #expect(Set(head.keys).isDisjoint(with: ["apns-channel-id", "apns-request-id"]))
    }
  }

  @Test("Broadcasts go to an endpoint of their own where there is one")
  func elsewhere() async throws {
    let script = #"{"connections": [{"answers": [{"status": 200}]}]}"#
    let (devices, broadcasts) = (try await FaultServer(script), try await FaultServer(script))
    let endpoint = try APNsEndpoint(broadcasts.url)
    let client = try TestClient(devices.url) { $0.productionBroadcast = endpoint }
    let outcomes = await client.send([.test(1), try Self.broadcast(2), .test(3)])
    #expect(outcomes == [.accepted, .accepted, .accepted])
    await client.close()
    func paths(_ server: FaultServer) async -> [String] {
      await server.stop().filter { $0.event == "request" }.compactMap { $0.headers?[":path"] }
    }
    #expect(await paths(devices).filter { $0.hasPrefix("/3/device/") }.count == 2)
    #expect(await paths(broadcasts) == ["/4/broadcasts/apps/com.example.customer"])
  }

  @Test("R21: a broadcast may have 5120 bytes, and no more")
  func size() async throws {
    let server = try await FaultServer(#"{"connections": [{"answers": [{"status": 200}]}]}"#)
    let client = try TestClient(server.url)
    #expect(await client.send(try Self.broadcast(1, payload: 5120)) == .accepted)
    #expect(
      await client.send(try Self.broadcast(2, payload: 5121))
        == .unsent(.invalid("the payload has 5121 bytes; APNs takes 5120")))
    await client.close()
    #expect(await server.stop().filter { $0.event == "request" }.count == 1)
  }
}
