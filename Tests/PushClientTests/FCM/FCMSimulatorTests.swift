import Base
import Foundation
import RideCore
import TestSupport
import Testing

@testable import PushClient

/// The client with fcm-simulator, which has no line in common with it.
@Suite struct FCMSimulatorTests {
  private static func client(_ server: TokenServer) throws -> TestClient {
    let endpoint = try APNsEndpoint(server.url)
    return try TestClient(
      server.url,
      credentials: Credentials(lanes: [:], bundleIDs: [:], serviceAccount: server.account)
    ) {
      $0.fcm = endpoint
      $0.fcmCAFile = server.process.authorityPath
    }
  }

  @Test func `messages are accepted, each once, by one connection`() async throws {
    let server = try TokenServer(["--strict", "priority", "--strict", "ttl"])
    let client = try Self.client(server)
    let reports = await Collected.reports(of: (1...500).map { .message($0) }, by: client.client)
    #expect(reports.allSatisfy { $0.outcome == .accepted && $0.uniqueID?.isEmpty == false })
    #expect(Set(reports.map(\.uniqueID)).count == 500)
    await client.close()
    let records = try server.process.records()
    #expect(records.count == 500)
    #expect(records.allSatisfy { $0["http"] as? String == "2" })
    #expect(try server.exchanges == 1)
  }

  @Test(
    "Each answer has its word and its wait",
    arguments: [
      (404, "UNREGISTERED", nil), (403, "SENDER_ID_MISMATCH", nil), (400, "INVALID_ARGUMENT", nil),
      (401, "THIRD_PARTY_AUTH_ERROR", nil), (429, "QUOTA_EXCEEDED", 7), (500, "INTERNAL", nil),
      (503, "UNAVAILABLE", 30),
    ] as [(Int, String, Int?)])
  func answers(status: Int, word: String, retryAfter: Int?) async throws {
    let wait = retryAfter.map { #","retry_after":\#($0)"# } ?? ""
    let server = try TokenServer(
      faults:
        #"[{"match":{"call":"send"},"action":{"answer":{"status":\#(status),"reason":"\#(word)"\#(wait)}},"times":1}]"#
    )
    let client = try Self.client(server)
    let outcome = await client.send(.message(1))
    guard case .refused(let refusal) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(refusal.status == status)
    #expect(refusal.reason == word)
    #expect(refusal.retryAfter == retryAfter.map { .seconds($0) })
    #expect(refusal.detail?.isEmpty == false)
    // A phone that registers later is not concerned.
    #expect((refusal.timestamp != nil) == (word == "UNREGISTERED"))
    #expect(await client.send(.message(2)) == .accepted)
    await client.close()
  }

  @Test func `a connection without SETTINGS is replaced, and no push is sent twice`() async throws {
    let server = try TokenServer()
    try server.setFaults(#"[{"action":{"no_settings":true},"times":1}]"#)
    let client = try Self.client(server)
    let reports = await Collected.reports(of: (1...150).map { .message($0) }, by: client.client)
    await client.wait { kind in
      if case .closed(let why) = kind { why.hasPrefix("the server broke HTTP/2") } else { false }
    }
    #expect(await client.send(.message(151)) == .accepted)
    await client.close()
    #expect(Set(reports.map(\.ticket)).count == 150)
    for report in reports where report.outcome != .accepted {
      guard case .unanswered(.connectionLost) = report.outcome else {
        Issue.record("\(report.outcome)")
        continue
      }
    }
    let names = try server.process.records().compactMap { record in
      let message = record["message"] as? [String: Any]
      return (message?["data"] as? [String: String])?["rp_id"]
    }
    #expect(Set(names).count == names.count, "what was sent is not sent again")
  }

  @Test func `what the simulator checks itself has Google's words, too`() async throws {
    let server = try TokenServer()
    let client = try Self.client(server)
    var push = PushRequest.message(1)
    push.payload = Array(#"{"message":{"token":"x","data":{"a":"1"}}}"#.utf8)
    #expect(
      await client.send(push).bare
        == .refused(Refusal(status: 400, reason: "INVALID_REGISTRATION")))
    push.payload = Array(#"{"message":{"fid":"cX3abcdefghijklmnopqrs","data":{"a":1}}}"#.utf8)
    #expect(
      await client.send(push).bare
        == .refused(Refusal(status: 400, reason: "INVALID_ARGUMENT")))
    await client.close()
  }

  @Test func `an expired token is replaced, and its pushes go again`() async throws {
    let server = try TokenServer()
    let client = try Self.client(server)
    #expect(await client.send(.message(1)) == .accepted)
    try await wait(until: "the token is old enough") {
      client.client.accessTokens().first?.age ?? .zero > AccessTokenState.youth
    }
    try server.expireTokens()
    #expect(await client.send((2...40).map { .message($0) }).allSatisfy { $0 == .accepted })
    await client.close()
    #expect(try server.exchanges == 2)
  }

  @Test("Rates of the project and of a phone", arguments: [true, false])
  func rates(isOfDevice: Bool) async throws {
    let server = try TokenServer([isOfDevice ? "--device-rate" : "--quota", "1/60"])
    let client = try Self.client(server)
    #expect(await client.send(.message(1)) == .accepted)
    guard case .refused(let refusal) = await client.send(.message(2)) else {
      Issue.record("the second message was accepted")
      return
    }
    #expect(refusal.reason == (isOfDevice ? "DEVICE_QUOTA_EXCEEDED" : "QUOTA_EXCEEDED"))
    #expect(refusal.retryAfter ?? .zero > .zero)
    await client.close()
  }

  @Test func `another project than the account's is a fault of the configuration`() async throws {
    let server = try TokenServer()
    let endpoint = try APNsEndpoint(server.url)
    let account = try server.account(["project_id": "strangers"])
    let client = try TestClient(
      server.url,
      credentials: Credentials(lanes: [:], bundleIDs: [:], serviceAccount: account)
    ) {
      $0.fcm = endpoint
      $0.fcmCAFile = server.process.authorityPath
    }
    guard case .refused(let refusal) = await client.send(.message(1)) else {
      Issue.record("the message was accepted")
      return
    }
    #expect(refusal.rule.isOfConfiguration && refusal.rule.token == .kept)
    await client.close()
  }
}
