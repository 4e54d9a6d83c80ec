import Base
import RideCore
import TestSupport
import Testing

@testable import PushClient

/// Pushes to FCM and the access token that they need.
@Suite struct FCMTokenTests {
  private static let refused =
    #"{"status": 401, "body": "{\"error\":{\"status\":\"UNAUTHENTICATED\"}}"}"#

  @Test func `the first push waits for the token and presents it`() async throws {
    let slow = #"{"delay": 1, "# + FCMServers.tokens[0].dropFirst()
    let servers = try await FCMServers("{}", tokens: [slow])
    #expect(await servers.send(1...20).allSatisfy { $0 == .accepted })
    let lines = await servers.stop()
    #expect(lines.tokens.requests.count == 1)
    #expect(lines.fcm.bearers == Array(repeating: "first", count: 20))
    #expect(Set(lines.fcm.requests.compactMap(\.connection)) == [0])
    let request = try #require(lines.fcm.requests.first)
    #expect(request.headers?[":path"] == "/v1/projects/rides-prod/messages:send")
    #expect(request.headers?["content-type"] == "application/json")
    #expect(request.headers?.keys.contains { $0.hasPrefix("apns-") } == false)
  }

  @Test func `without a token endpoint pushes end within their deadline, and APNs is not asked`()
    async throws
  {
    let servers = try await FCMServers(
      "{}", tokens: [#"{"status": 503}"#], requestTimeout: .seconds(10))
    guard case .unsent(.noConnection(let text)) = await servers.send(1) else {
      Issue.record("the push did not wait for a token")
      return
    }
    #expect(text.hasPrefix("no access token: "))
    #expect(servers.client.client.reachability() == [.android: .unreachable])
    #expect(await servers.stop().fcm.isEmpty)
  }

  @Test func `a service account that Google refuses turns pushes away`() async throws {
    let servers = try await FCMServers(
      "{}",
      tokens: [#"{"status": 400, "body": "{\"error\":\"invalid_grant\"}"}"#],
      requestTimeout: .seconds(10))
    guard case .unsent(.turnedAway(let refusal)) = await servers.send(1) else {
      Issue.record("the push was not turned away")
      return
    }
    #expect(refusal.status == 400 && refusal.reason == "TOKEN_ENDPOINT")
    #expect(refusal.detail?.contains("invalid_grant") == true)
    #expect(servers.client.client.accessTokens().map(\.failures) == [["invalid_grant": 1]])
    #expect(await servers.stop().fcm.isEmpty)
  }

  @Test func `a token is renewed on open connections, and FCM refuses none`() async throws {
    let short = FCMServers.token(#"\"access_token\":\"short\""#, life: 10)
    let servers = try await FCMServers("{}", tokens: [short, FCMServers.tokens[1]])
    #expect(await servers.send(1) == .accepted)
    await servers.client.wait { $0 == .accessTokenFetched(lifetime: .seconds(3599)) }
    #expect(await servers.send(2...10).allSatisfy { $0 == .accepted })
    let lines = await servers.stop()
    #expect(lines.fcm.bearers == ["short"] + Array(repeating: "second", count: 9))
    #expect(Set(lines.fcm.requests.compactMap(\.connection)) == [0])
    #expect(lines.tokens.requests.count == 2)
  }

  @Test func `a storm of 401 costs one exchange, and each push goes once more`() async throws {
    let storm = Array(repeating: Self.refused, count: 50).joined(separator: ", ")
    let servers = try await FCMServers(
      #"{"answers": [{"status": 200}, \#(storm), {"status": 200}]}"#)
    #expect(await servers.send(1) == .accepted)
    try await Self.waitUntilOld(servers.client.client)
    #expect(await servers.send(2...51).allSatisfy { $0 == .accepted })
    let lines = await servers.stop()
    #expect(lines.tokens.requests.count == 2)
    #expect(lines.fcm.bearers.count == 101)
    #expect(lines.fcm.bearers.prefix(51).allSatisfy { $0 == "first" })
    #expect(lines.fcm.bearers.suffix(50).allSatisfy { $0 == "second" })
    #expect(Set(lines.fcm.requests.compactMap(\.connection)) == [0], "it is not replaced")
  }

  @Test func `a second 401 is the push's answer`() async throws {
    let servers = try await FCMServers(#"{"answers": [\#(Self.refused)]}"#)
    let refusal = Refusal(status: 401, reason: "UNAUTHENTICATED")
    #expect(await servers.send(1) == .refused(refusal))
    #expect(await servers.stop().fcm.requests.count == 2)
  }

  @Test func `a new key of the project sends with the old token until it has its own`() async throws
  {
    let other = FCMServers.token(#"\"access_token\":\"other\""#, life: 3000)
    let slow = #"{"delay": 6, "# + other.dropFirst()
    let servers = try await FCMServers("{}, {}", tokens: [FCMServers.tokens[0], slow])
    #expect(await servers.send(1) == .accepted)
    try Self.replaceKey(of: servers)
    #expect(await servers.send(2) == .accepted)
    await servers.client.wait { $0 == .accessTokenFetched(lifetime: .seconds(3000)) }
    #expect(await servers.send(3) == .accepted)
    #expect(await servers.stop().fcm.bearers == ["first", "first", "other"])
  }

  @Test
  func `a new key that Google refuses is reported, and the old token is sent while it is valid`()
    async throws
  {
    let servers = try await FCMServers(
      "{}, {}",
      tokens: [
        FCMServers.tokens[0],
        #"{"status": 400, "body": "{\"error\":\"invalid_grant\"}"}"#,
      ])
    #expect(await servers.send(1) == .accepted)
    try Self.replaceKey(of: servers)
    await servers.client.wait {
      guard case .accessTokenFailed(let problem, _, let life?) = $0 else { return false }
      return problem.word == "invalid_grant" && (.seconds(3500) ... .seconds(3599)).contains(life)
    }
    #expect(await servers.send(2...10).allSatisfy { $0 == .accepted })
    #expect(await servers.stop().fcm.bearers == Array(repeating: "first", count: 10))
  }

  @Test func `another project does not get the token of the one before`() async throws {
    let servers = try await FCMServers(
      "{}, {}", tokens: [FCMServers.tokens[0], #"{"status": 503}"#], requestTimeout: .seconds(10))
    #expect(await servers.send(1) == .accepted)
    try Self.replaceKey(of: servers, project: "rides-test")
    guard case .unsent(.noConnection) = await servers.send(2) else {
      Issue.record("the push left with another project's token")
      return
    }
    #expect(await servers.stop().fcm.bearers == ["first"])
  }

  private static func replaceKey(of servers: FCMServers, project: String = "rides-prod") throws {
    var file = try AccountFile(key: "other.pem")
    file.members["private_key_id"] = "b00c5eed"
    file.members["project_id"] = project
    file.members["token_uri"] = servers.tokens.url + "/token"
    servers.client.client.use(
      Credentials(lanes: [:], bundleIDs: [:], serviceAccount: try file.account()))
  }

  /// A younger token is kept although FCM refuses it.
  private static func waitUntilOld(_ client: PushClient) async throws {
    try await wait(until: "the token is old enough") {
      client.accessTokens().first?.age ?? .zero > AccessTokenState.youth
    }
  }

  @Test func `an app without a service account is told which variable to set`() async throws {
    let servers = try await FCMServers("{}")
    servers.client.client.use(Credentials(key: try Fixtures.shared.get().key()))
    var push = PushRequest.message(1)
    push.lane = "customer"
    #expect(
      await servers.client.send(push)
        == .unsent(
          .noCredential(
            "no service account for customer: set FCM_CUSTOMER_SERVICE_ACCOUNT_PATH or "
              + "FCM_SERVICE_ACCOUNT_PATH")))
    #expect(PushRequest.message(1, network: .production).problem != nil)
    #expect(PushRequest.test(1, network: .android).problem != nil)
    _ = await servers.stop()
  }
}
