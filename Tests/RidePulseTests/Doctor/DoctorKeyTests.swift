import APNSClient
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
}
