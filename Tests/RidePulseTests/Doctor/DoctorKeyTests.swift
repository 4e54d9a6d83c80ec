import PushClient
import RideCore
import Testing

@testable import RidePulse

@Suite("Checks of given keys") struct DoctorKeyTests {
  /// Key states, the check's name, its standing, and a part of its text or of its fix.
  private static let keys: [([KeyState], String, CheckResult.Standing, String)] = [
    (
      [KeyState(path: "k", keyIDOfFile: "ABC123DEFG", teamID: "DEF123GHIJ")], "key ID", .ok,
      "ABC123DEFG, from the file's name"
    ),
    ([KeyState(path: "k", teamID: "DEF123GHIJ")], "key ID", .failure, "export APNS_KEY_ID="),
    (
      [KeyState(prefix: "APNS_DRIVER_SANDBOX_", path: "k", keyID: "x", teamID: "DEF123GHIJ")],
      "key ID APNS_DRIVER_SANDBOX", .failure, "APNS_DRIVER_SANDBOX_KEY_ID is \"x\""
    ),
    (
      [
        KeyState(prefix: "APNS_DRIVER_", path: "a/k", isOpenToAll: true, keyID: "ABC123DEFG")
      ], "key file APNS_DRIVER", .warning, "chmod 600 a/k"
    ),
    (
      [
        KeyState(
          prefix: "APNS_DRIVER_", path: "k", keyID: "ABC123DEFG", teamID: "team",
          teamIDName: "APNS_DRIVER_TEAM_ID")
      ], "team ID APNS_DRIVER", .failure, "export APNS_DRIVER_TEAM_ID="
    ),
    (
      [
        KeyState(path: "/a/k", keyID: "ABC123DEFG", teamID: "DEF123GHIJ"),
        KeyState(
          prefix: "APNS_SANDBOX_", path: "/b/k", keyID: "ABC123DEFG", teamID: "DEF123GHIJ"),
      ], "key ID", .warning, "ABC123DEFG is the ID of /a/k and of /b/k"
    ),
  ]

  @Test(arguments: keys.indices)
  func `R99 states of keys give these results`(index: Int) throws {
    let (keys, name, standing, words) = Self.keys[index]
    let results = CredentialCheck.results(CredentialState(keys: keys))
    // Two checks may have one name: that of the ID, and that of IDs given twice.
    let result = try #require(results.first { $0.name == name && $0.standing == standing })
    #expect(([result.what] + result.remedy).contains { $0.contains(words) }, "\(result)")
  }

  /// The result of the driver's push.
  private func push(_ keys: [KeyState], _ outcome: PushOutcome?) throws -> CheckResult {
    var probes = APNsState()
    probes.bundleIDs = [.driver: "com.example.driver"]
    probes.credentials = CredentialState(keys: keys)
    var state = APNsState.EnvironmentState(environment: .production, endpoint: "https://a:443")
    state.answers[.init(app: .driver)] = outcome.map {
      APNsState.Answer(outcome: $0, credential: "certificate com.example.driver")
    }
    probes.environments = [state]
    return try #require(
      APNsCheck.results(probes).first { $0.name == "push production driver" })
  }

  private static let good = KeyState(path: "k", keyID: "ABC123DEFG", teamID: "DEF123GHIJ")

  @Test func `R99 a push that had no usable key refers to the key's failed check`() throws {
    let bad = KeyState(
      prefix: "APNS_DRIVER_", path: "k", keyID: "ABC123DEFG", teamID: "team",
      teamIDName: "APNS_DRIVER_TEAM_ID")
    let failed = try push([Self.good, bad], nil)
    #expect(failed.remedy.first?.contains("fix what failed above: team ID APNS_DRIVER;") == true)
    let missing = try push([Self.good], nil)
    #expect(missing.remedy.first?.contains("set APNS_PRIVATE_KEY_PATH, or APNS_DRIVER_") == true)
  }

  @Test func `R116 a certificate refused in the TLS handshake is explained like BadCertificate`()
    throws
  {
    let result = try push([Self.good], .unsent(.certificateRefused("alert unknown ca")))
    #expect(result.standing == .failure)
    #expect(result.what.contains("refused certificate com.example.driver in the TLS handshake"))
    #expect(result.remedy.first?.contains("compare APNS_DRIVER_CERTIFICATE_PATH") == true)
  }
}
