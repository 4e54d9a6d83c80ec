import Base
import Foundation
import PushClient
import RideCore
import Testing
import TestSupport

@testable import RidePulse

/// What happens as the files are read.
@Suite final class CredentialFileTests {
  private let folder: String

  init() throws { folder = try ScratchFolder.create() }

  deinit { ScratchFolder.remove(folder) }

  private func write(_ name: String, _ words: String) throws -> String {
    let result = try Tool.run(
      "/usr/bin/openssl", words.split(separator: " ").map(String.init) + ["-out", name], in: folder)
    try #require(result.status == 0, "\(result.errors)")
    return "\(folder)/\(name)"
  }

  private func key(_ name: String) throws -> String {
    try write(name, "genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256")
  }

  private func load(_ environment: [String: String]) throws -> Credentials {
    try CredentialVariables(environment, apps: [.customer, .driver], standard: .production)
      .load(bundleIDs: [.customer: "com.example.customer", .driver: "com.example.driver"])
  }

  private func failure(_ environment: [String: String]) -> String {
    do {
      _ = try load(environment)
      return "no failure"
    } catch { return "\(error)" }
  }

  @Test func `R99: the ID comes from the file's name, unless a variable gives it`() throws {
    let path = try key("AuthKey_ABCDE12345.p8")
    var environment = ["APNS_PRIVATE_KEY_PATH": path, "APNS_TEAM_ID": "TEAMTEAM01"]
    #expect(try load(environment)[.init(.driver, .sandbox)].key?.keyID == "ABCDE12345")
    environment["APNS_KEY_ID"] = "OTHER67890"
    #expect(try load(environment)[.init(.driver, .sandbox)].key?.keyID == "OTHER67890")
    let plain = try key("key.p8")
    environment = ["APNS_PRIVATE_KEY_PATH": plain, "APNS_TEAM_ID": "TEAMTEAM01"]
    #expect(failure(environment).contains("APNS_KEY_ID is not set, and APNS_PRIVATE_KEY_PATH"))
  }

  @Test func `R99: every bad file is named with its variable`() throws {
    let good = try key("AuthKey_ABCDE12345.p8")
    let text = failure([
      "APNS_PRIVATE_KEY_PATH": good, "APNS_TEAM_ID": "TEAMTEAM01",
      "APNS_DRIVER_PRIVATE_KEY_PATH": "/nope", "APNS_SANDBOX_PRIVATE_KEY_PATH": good,
      "APNS_SANDBOX_KEY_ID": "short", "APNS_CUSTOMER_CERTIFICATE_PATH": good,
      "APNS_CUSTOMER_CERTIFICATE_KEY_PATH": good,
    ])
    for part in [
      "APNS_DRIVER_PRIVATE_KEY_PATH: can't read the APNs signing key /nope: No such file",
      "APNS_SANDBOX_KEY_ID: \"short\" is no APNs key ID",
      "APNS_CUSTOMER_CERTIFICATE_PATH, APNS_CUSTOMER_CERTIFICATE_KEY_PATH: \(good) holds no cert",
    ] {
      #expect(text.contains(part), "\(text)")
    }
    let pem = try String(contentsOfFile: good, encoding: .utf8)
    let secret = failure(["APNS_PRIVATE_KEY_PATH": pem, "APNS_TEAM_ID": "TEAMTEAM01"])
    #expect(secret.contains("contains the key itself") && !secret.contains("BEGIN"))
  }

  @Test func `R99: a replaced key under an old ID is refused, a corrected file is not`() throws {
    let (old, new) = (try key("AuthKey_ABCDE12345.p8"), try key("AuthKey_NEXTA67890.p8"))
    let (link, files) = ("\(folder)/current.p8", FileManager.default)
    try files.createSymbolicLink(atPath: link, withDestinationPath: old)
    func variables(_ more: [String: String]) -> CredentialVariables {
      CredentialVariables(
        ["APNS_PRIVATE_KEY_PATH": link, "APNS_TEAM_ID": "TEAMTEAM01"].merging(more) { $1 },
        apps: [.driver], standard: .production)
    }
    func keyID(_ credentials: Credentials) -> String? {
      credentials[.init(.driver, .production)].key?.keyID
    }
    let (byName, byVariable) = (variables([:]), variables(["APNS_KEY_ID": "ABCDE12345"]))
    let before = try byName.load(bundleIDs: [:])
    try files.removeItem(atPath: link)
    try files.createSymbolicLink(atPath: link, withDestinationPath: new)
    #expect(keyID(try byName.reload(after: before, bundleIDs: [:])) == "NEXTA67890")
    #expect(throws: CommandFailure.self) { try byVariable.reload(after: before, bundleIDs: [:]) }
    // The file may be corrected under the name that it had.
    try files.removeItem(atPath: old)
    try files.moveItem(atPath: new, toPath: old)
    try files.removeItem(atPath: link)
    try files.createSymbolicLink(atPath: link, withDestinationPath: old)
    let corrected = try byVariable.reload(after: before, bundleIDs: [:])
    #expect(keyID(corrected) == "ABCDE12345" && corrected != before)
  }

  @Test func `R99: a replaced key under the ID of a variable is a warning without Apple's name`()
    throws
  {
    let path = try key("key.p8")
    let variables = CredentialVariables(
      ["APNS_PRIVATE_KEY_PATH": path, "APNS_KEY_ID": "ABCDE12345", "APNS_TEAM_ID": "TEAMTEAM01"],
      apps: [.customer, .driver], standard: .production)
    let before = try variables.load(bundleIDs: [:])
    let same = try variables.reload(after: before, bundleIDs: [:])
    #expect(variables.unconfirmed(after: before, same) == [])
    try FileManager.default.removeItem(atPath: path)
    _ = try key("key.p8")
    let after = try variables.reload(after: before, bundleIDs: [:])
    let warnings = variables.unconfirmed(after: before, after)
    #expect(warnings.count == 1, "\(warnings)")
    #expect(warnings.first?.contains("APNS_KEY_ID is still ABCDE12345") == true)
  }

  @Test func `R99: a bad team is named with its own variable`() throws {
    let path = try key("AuthKey_ABCDE12345.p8")
    let text = failure([
      "APNS_PRIVATE_KEY_PATH": path, "APNS_TEAM_ID": "TEAMTEAM01",
      "APNS_DRIVER_PRIVATE_KEY_PATH": path, "APNS_DRIVER_TEAM_ID": "team",
    ])
    #expect(text.hasPrefix("APNS_DRIVER_TEAM_ID: \"team\" is no Apple team ID"), "\(text)")
  }

  @Test func `R105: serve names what a certificate lacks`() throws {
    let key = try key("client.key")
    let request = "req -x509 -new -key client.key -days 10 -subj /UID=com.example.other/CN=Push"
    let certificate = try write("client.pem", request)
    let environment = [
      "APNS_DRIVER_BUNDLE_ID": "com.example.driver", "APNS_DRIVER_CERTIFICATE_PATH": certificate,
      "APNS_DRIVER_CERTIFICATE_KEY_PATH": key,
    ]
    let apns = try APNsVariables(environment)
    let credentials = try apns.loadCredentials()
    let now = Timestamp(epochSeconds: Int64(Date().timeIntervalSince1970))
    func advice(_ apps: [App], _ now: Timestamp) -> [String] {
      CredentialAdvice.all(credentials, apns, cardApps: apps, at: now)
    }
    let doubts = advice([.driver], now)
    #expect(doubts.count == 3, "\(doubts)")
    for (doubt, text) in zip(
      doubts,
      [
        "cards of the app driver can't be sent", "is a certificate for com.example.other",
        "APNS_DRIVER_CERTIFICATE_PATH expires on",
      ])
    { #expect(doubt.contains(text)) }
    let later = advice([], now + .seconds(11 * 86_400))
    #expect(later.last?.contains("expired on") == true, "\(later)")
    #expect(advice([], now - .seconds(30 * 86_400)).count == 1)
  }
}
