import RideCore
import Testing

@testable import PushClient

/// Which service account sends an app's messages.
@Suite struct FCMCredentialTests {
  private static func account(_ project: String) throws -> ServiceAccount {
    var file = try AccountFile()
    file.members["project_id"] = project
    return try file.account()
  }

  @Test func `an app's own account comes before the one for all apps`() throws {
    let (own, general) = (try Self.account("own"), try Self.account("general"))
    let lane = Credentials.Lane(App(rawValue: "customer"), .android)
    let credentials = Credentials(
      lanes: [lane: .init(serviceAccount: own)], bundleIDs: [:], serviceAccount: general)
    #expect(credentials[lane].credential(for: .alert) == .serviceAccount(own))
    let other = Credentials.Lane(App(rawValue: "driver"), .android)
    #expect(credentials[other].credential(for: .liveactivity) == .serviceAccount(general))
    #expect(credentials.all(of: .android) == [.serviceAccount(own), .serviceAccount(general)])
    #expect(credentials.serviceAccounts == [own, general])
    #expect(credentials.names == "general/3f9a21, own/3f9a21")
  }

  @Test func `keys send nothing to FCM, and accounts nothing to APNs`() throws {
    let key = try Fixtures.shared.get().key()
    let (app, account) = (App(rawValue: "customer"), try Self.account("rides"))
    let withKey = Credentials(key: key)
    #expect(withKey[.init(app, .android)].credential(for: .alert) == nil)
    #expect(withKey.all(of: .android).isEmpty)
    let withAccount = Credentials(lanes: [:], bundleIDs: [:], serviceAccount: account)
    #expect(withAccount[.init(app, .production)].credential(for: .alert) == nil)
    #expect(withAccount.all(of: .production).isEmpty && withAccount.all(of: .sandbox).isEmpty)
  }

  @Test func `a name and a description tell no secret`() throws {
    let credential = Credential.serviceAccount(try Self.account("rides-prod"))
    #expect(credential.name == "rides-prod/3f9a21")
    #expect(credential.description == "service account rides-prod/3f9a21")
  }

  @Test func `pushes move to another account, and what is open ends with its streams`() async throws
  {
    let servers = try await FCMServers(#"{"answers": [{"status": 200}]}"#)
    #expect(await servers.send(1) == .accepted)
    var file = try AccountFile()
    file.members["token_uri"] = servers.tokens.url + "/token"
    file.members["project_id"] = "another"
    servers.client.client.use(
      Credentials(lanes: [:], bundleIDs: [:], serviceAccount: try file.account()))
    #expect(await servers.send(2) == .accepted)
    let lines = await servers.stop()
    #expect(
      lines.fcm.requests.compactMap { $0.headers?[":path"] } == [
        "/v1/projects/rides-prod/messages:send", "/v1/projects/another/messages:send",
      ])
    #expect(lines.fcm.bearers == ["first", "second"])
    #expect(lines.fcm.requests.compactMap(\.connection) == [0, 1])
  }
}
