import RideCore
import Testing

@testable import PushClient

@Suite struct TransportCloseTests {
  @Test("Close: what waits is unsent, what is in flight gets the limit, and then it is over")
  func closing() async throws {
    let server = try await FaultServer(#"{"connections": [{"answers": [{"silent": true}]}]}"#)
    let client = try TestClient(server.url)
    async let outcomes = client.send((1...3).map { .test($0) })
    await server.wait { $0.event == "request" }
    await client.client.close(within: .milliseconds(200))
    #expect(
      await outcomes == [
        .unanswered(.connectionLost("closed")), .unsent(.closed), .unsent(.closed),
      ])
    // `close` is idempotent, and later pushes are still reported.
    await client.client.close(within: .seconds(5))
    #expect(await client.send(.test(4)) == .unsent(.closed))
    _ = await server.stop()
  }

  @Test("Close waits for the answers that come in time")
  func answersInTime() async throws {
    let server = try await FaultServer(#"{"connections": [{}]}"#)
    let client = try TestClient(server.url)
    #expect(await client.send(.test(0)) == .accepted)
    async let outcomes = client.send((1...500).map { .test($0) })
    await server.wait { $0.headers?["apns-id"] == PushRequest.test(1).idText }
    await client.close()
    // Pushes that were sent were answered and the others were never sent: no outcome is unknown.
    #expect(await outcomes.allSatisfy { $0 == .accepted || $0 == .unsent(.closed) })
    #expect(client.client.statistics(of: .production).openConnections == 0)
    _ = await server.stop()
  }

  @Test("A client that is let go reports what it held")
  func deinitialised() async throws {
    let server = try await FaultServer(#"{"connections": [{"answers": [{"silent": true}]}]}"#)
    var client: TestClient? = try TestClient(server.url)
    let (stream, continuation) = AsyncStream.makeStream(of: PushReport.self)
    client?.client.submit([.test(1)]) { for report in $0 { continuation.yield(report) } }
    client = nil
    var first: PushReport?
    for await report in stream {
      first = report
      break
    }
    #expect(first?.ticket == 1)
    _ = await server.stop()
  }
}
