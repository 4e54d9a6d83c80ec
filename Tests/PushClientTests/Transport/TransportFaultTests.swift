import Base
import Foundation
import RideCore
import Testing

@testable import PushClient

/// The client against a real TLS and HTTP/2 server that misbehaves on demand.
@Suite struct TransportFaultTests {
  @Test("R1: a push without an answer times out in its limit, and the next one is sent")
  func silence() async throws {
    let server = try await FaultServer(
      #"{"connections": [{"answers": [{"silent": true}]}, {}]}"#)
    let client = try TestClient(server.url, requestTimeout: .seconds(10))
    let clock = ContinuousClock()
    let start = clock.now
    #expect(await client.send(.test(1)) == .unanswered(.timeout))
    #expect(clock.now - start >= .milliseconds(700))
    #expect(await client.send(.test(2)) == .accepted)
    await client.close()
    let lines = await server.stop()
    #expect(lines.contains { $0.event == "reset" && $0.code == 8 }, "RST_STREAM(CANCEL)")
  }

  @Test("R2: GOAWAY: streams above the last are sent again once, the others are unanswered")
  func goAway() async throws {
    let server = try await FaultServer(
      #"""
      {"connections": [{"answers": [{"status": 200}, {"silent": true}, {"silent": true},
        {"silent": true}, {"goaway": 5, "reason": "Shutdown", "close": true}]}, {}]}
      """#)
    let client = try TestClient(server.url)
    #expect(await client.send(.test(1)) == .accepted)
    // Streams 3, 5, 7 and 9: two of them are above the last processed one, 5.
    let requests = (2...5).map { PushRequest.test($0) }
    let outcomes = await client.send(requests)
    for outcome in outcomes.prefix(2) {
      guard case .unanswered(.connectionLost) = outcome else {
        Issue.record("\(outcome)")
        continue
      }
    }
    #expect(outcomes.suffix(2) == [.accepted, .accepted])
    await client.close()
    let ids = await server.stop().requestIDs
    #expect(requests.map { request in ids.count { $0 == request.idText } } == [1, 1, 2, 2])
  }

  @Test("R3: an idle connection that went dead is replaced before the next push")
  func blackHole() async throws {
    let server = try await FaultServer(
      #"{"connections": [{"answers": [{"status": 200}, {"hole": true}]}, {}]}"#)
    let client = try TestClient(server.url, requestTimeout: .seconds(20)) {
      $0.pingAfter = .seconds(1)
      $0.pingTimeout = .seconds(5)
    }
    #expect(await client.send(.test(1)) == .accepted)
    // The second push gets no answer from the black hole, nor does the ping that checks the
    // connection.
    async let second = client.send(.test(2))
    await client.wait { $0 == .pingLost }
    guard case .unanswered(.connectionLost) = await second else {
      Issue.record("the push in the hole was not reported as lost")
      return
    }
    #expect(await client.send(.test(3)) == .accepted)
    await client.close()
    #expect(await server.stop().requestIDs.count == 3)
  }

  @Test("R8: ExpiredProviderToken costs one new token and no push")
  func expiredToken() async throws {
    let server = try await FaultServer(
      #"""
      {"connections": [{"answers": [{"status": 403, "body": "{\"reason\":\"ExpiredProviderToken\"}"
        }]}, {}]}
      """#)
    let client = try TestClient(server.url)
    #expect(await client.send(.test(1)) == .accepted)
    #expect(await client.send((2...101).map { .test($0) }).allSatisfy { $0 == .accepted })
    await client.close()
    let lines = await server.stop().filter { $0.event == "request" }
    let tokens = lines.map { $0.headers?["authorization"] ?? "" }
    #expect(Set(tokens.dropFirst()).count == 1, "one new token for all")
    #expect(tokens.first != tokens.last)
    #expect(lines.map(\.connection) == [0] + Array(repeating: 1, count: 101))
  }

  @Test("R7: a clock that is off by hours is corrected by APNs' own", arguments: [-7200, 7200])
  func wrongClock(offset: Int) async throws {
    // Apple reports a token from the past as expired and one from the future as invalid.
    let reason = offset < 0 ? "ExpiredProviderToken" : "InvalidProviderToken"
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.timeZone = TimeZone(identifier: "GMT")
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    let server = try await FaultServer(
      #"""
      {"connections": [{"answers": [{"status": 403, "headers": [["date", "\#(format.string(from: Date()))"]],
        "body": "{\"reason\":\"\#(reason)\"}"}]}, {}]}
      """#)
    let client = try TestClient(server.url, clockOffset: .seconds(offset))
    _ = await client.send(.test(1))
    await client.wait { event in
      guard case .clockSkew(let behind) = event else { return false }
      return abs(behind.inSeconds + Double(offset)) < 30
    }
    #expect(await client.send((2...20).map { .test($0) }).allSatisfy { $0 == .accepted })
    await client.close()
    let lines = await server.stop().filter { $0.event == "request" }
    let issued = lines.compactMap { $0.headers?["authorization"].flatMap(Self.issuedAt) }
    let now = Int64(Date().timeIntervalSince1970)
    #expect(issued.count == lines.count)
    #expect(abs(issued[0] - now) > 3600)
    // The token is of the current window, as on every node with a correct clock, and shared by all
    // pushes.
    #expect(Set(issued.dropFirst()).count == 1)
    #expect(issued.last.map { now - $0 < 1860 && $0 <= now + 60 } == true)
  }

  /// Returns the `iat` of `bearer <jwt>`.
  private static func issuedAt(_ authorization: String) -> Int64? {
    let parts = authorization.split(separator: ".")
    guard parts.count == 3 else { return nil }
    var text = parts[1].replacing("-", with: "+").replacing("_", with: "/")
    while text.count % 4 != 0 { text += "=" }
    let claims = Data(base64Encoded: String(text)).flatMap { JSONValue(json: Array($0)) }
    if case .integer(let time) = claims?.value(at: ["iat"]) { return time }
    return nil
  }

  @Test("A refused stream is sent again, up to the limit")
  func refusedStream() async throws {
    let server = try await FaultServer(
      #"{"connections": [{"answers": [{"status": 200}, {"refuse": true}, {"status": 200},"#
        + #" {"refuse": true}]}]}"#)
    let client = try TestClient(server.url)
    #expect(await client.send(.test(1)) == .accepted)
    #expect(await client.send(.test(2)) == .accepted)
    #expect(await client.send(.test(3)) == .unsent(.refusedStream))
    await client.close()
    // The first push is sent once, the second twice, the third once plus three resends.
    #expect(await server.stop().requestIDs.count == 1 + 2 + 4)
  }

  @Test("R11: one of a hundred fails, and each of them has its own outcome")
  func oneOfMany() async throws {
    let good = Array(repeating: #"{"status": 200}"#, count: 36).joined(separator: ", ")
    let server = try await FaultServer(
      #"{"connections": [{"answers": [\#(good), {"reset": 2}, {"status": 200}]}]}"#)
    let client = try TestClient(server.url)
    let outcomes = await client.send((1...100).map { .test($0) })
    #expect(outcomes.count == 100)
    let failed = outcomes.indices.filter { outcomes[$0] != .accepted }
    #expect(failed.map { outcomes[$0] } == [.unanswered(.reset("INTERNAL_ERROR"))])
    await client.close()
    // The failed push is the one that the server reset: the 37th to arrive.
    let ids = await server.stop().requestIDs
    #expect(failed.map { PushRequest.test(UInt64($0) + 1).idText } == [ids[36]])
  }

  @Test("A reset stream is unanswered and names the code")
  func reset() async throws {
    let server = try await FaultServer(
      #"{"connections": [{"answers": [{"reset": 2}, {"status": 200}]}]}"#)
    let client = try TestClient(server.url)
    #expect(await client.send(.test(1)) == .unanswered(.reset("INTERNAL_ERROR")))
    #expect(await client.send(.test(2)) == .accepted)
    await client.close()
    _ = await server.stop()
  }

  @Test("A connection that ends midway leaves its push unanswered, and the next one is sent")
  func closedMidway() async throws {
    let server = try await FaultServer(
      #"{"connections": [{"answers": [{"status": 200}, {"close": true}]}, {}]}"#)
    let client = try TestClient(server.url)
    #expect(await client.send(.test(1)) == .accepted)
    guard case .unanswered(.connectionLost) = await client.send(.test(2)) else {
      Issue.record("a push on a closed connection is unanswered")
      return
    }
    #expect(await client.send(.test(3)) == .accepted)
    await client.close()
    #expect(await server.stop().requestIDs.count == 3)
  }

  @Test("The stream limit is obeyed as it rises and falls", arguments: [(1, 50), (50, 2)])
  func streamLimit(first: Int, then: Int) async throws {
    let server = try await FaultServer(
      #"{"connections": [{"streams": \#(first), "then_streams": \#(then)}]}"#)
    let client = try TestClient(server.url) { $0.maxConnections = 1 }
    #expect(await client.send(.test(0)) == .accepted)
    await client.wait { $0 == .streamLimit(then) }
    #expect(await client.send((1...200).map { .test($0) }).allSatisfy { $0 == .accepted })
    #expect(client.client.statistics(of: .production).streamLimits == [then])
    await client.close()
    let lines = await server.stop()
    #expect(!lines.contains { $0.event == "violation" }, "more streams than allowed")
    #expect(Set(lines.compactMap(\.connection)) == [0])
  }

  @Test("One stream alone until APNs has answered one with a valid token")
  func firstStreamAlone() async throws {
    let server = try await FaultServer(
      #"{"connections": [{"answers": [{"silent": true}]}, {}]}"#)
    let client = try TestClient(server.url, requestTimeout: .seconds(5))
    let outcomes = await client.send((1...20).map { .test($0) })
    #expect(outcomes.first == .unanswered(.timeout))
    let others = outcomes.dropFirst()
    #expect(others.allSatisfy { if case .unsent = $0 { true } else { false } }, "\(others)")
    await client.close()
    #expect(await server.stop().requestIDs.count == 1)
  }
}
