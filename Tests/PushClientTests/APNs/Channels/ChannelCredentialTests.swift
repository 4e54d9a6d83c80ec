import Base
import Foundation
import RideCore
import Testing
import TestSupport

@testable import PushClient

/// Which key calls about channels use.
@Suite struct ChannelCredentialTests {
  private static let now: @Sendable () -> Timestamp = {
    Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1_000_000))
  }

  private static func scope(_ app: String) -> ChannelScope {
    ChannelScope(bundleID: "com.example.\(app)", environment: .production)
  }

  private static func list(_ client: ChannelClient, _ app: String) async -> ChannelError? {
    let result = await ChannelBench.result { () async throws(ChannelError) in
      try await client.all(in: scope(app))
    }
    return result.error
  }

  @Test
  func `R99, R105: channels of an app use its key, a new one after a reload, or its certificate`()
    async throws
  {
    let fixtures = try Fixtures.shared.get()
    let server = try await FaultServer(
      #"""
      {"client_ca": "\#(fixtures.path("ca.pem"))",
       "connections": [{"answers": [{"status": 200, "body": "{\"channels\":[]}"}]}]}
      """#)
    var configuration = try APNsConfiguration(caFile: fixtures.path("ca.pem"))
    configuration.productionChannels = try APNsEndpoint(server.url)
    let bundleIDs = Dictionary(
      uniqueKeysWithValues: ["customer", "driver", "courier", "other"].map {
        (App(rawValue: $0), "com.example.\($0)")
      })
    func credentials(_ customer: SigningKey) throws -> Credentials {
      Credentials(
        lanes: [
          .init(.customer, .production): .init(key: customer),
          .init(.driver, .production): .init(key: try fixtures.key("next.p8", "DRIVER7890")),
          .init(App(rawValue: "courier"), .production): .init(
            certificate: try fixtures.clientCertificate()),
        ], bundleIDs: bundleIDs)
    }
    let store = CredentialStore(try credentials(try fixtures.key()))
    let client = ChannelClient(configuration: configuration, credentials: store, now: Self.now)
    for app in ["customer", "driver", "customer", "courier"] {
      #expect(await Self.list(client, app) == nil)
    }
    #expect(await Self.list(client, "other") == .noCredential(Self.scope("other")))
    store.use(try credentials(try fixtures.key("next.p8", "NEXT567890")))
    for app in ["customer", "driver"] { #expect(await Self.list(client, app) == nil) }
    let lines = await server.stop()
    #expect(lines.requests.map(\.connection) == [0, 1, 0, 2, 3, 1])
    #expect(
      lines.requests.map(\.keyID)
        == ["ABCDE12345", "DRIVER7890", "ABCDE12345", nil, "NEXT567890", "DRIVER7890"])
    #expect(lines.filter { $0.event == "peer" }.map(\.text) == ["", "", "Push", ""])
  }
}
