import APNSClient
import Foundation
import RideCore
import Testing
import TestSupport

@testable import RidePulse

/// Which variables sign for which lane.
@Suite struct CredentialVariablesTests {
  private static let general = [
    "APNS_PRIVATE_KEY_PATH": "general.p8", "APNS_KEY_ID": "GENERAL001",
    "APNS_TEAM_ID": "TEAMTEAM01",
  ]
  private static let driver = ["APNS_DRIVER_PRIVATE_KEY_PATH": "driver.p8"]
  private static let sandbox = ["APNS_SANDBOX_PRIVATE_KEY_PATH": "sandbox.p8"]
  private static let driverSandbox = ["APNS_DRIVER_SANDBOX_PRIVATE_KEY_PATH": "driver-sandbox.p8"]
  private static let certificate = [
    "APNS_DRIVER_CERTIFICATE_PATH": "driver.pem", "APNS_DRIVER_CERTIFICATE_KEY_PATH": "driver.key",
  ]
  private static let otherTeam = ["APNS_DRIVER_TEAM_ID": "OTHERTEAM1"]

  private static func read(
    _ parts: [[String: String]], apps: [App] = [.customer, .driver],
    standard: APNsEnvironment = .production
  ) -> CredentialVariables {
    CredentialVariables(
      parts.reduce([:]) { $0.merging($1) { $1 } }, apps: apps, standard: standard)
  }

  /// The sources of the driver's production, the driver's sandbox, and the customer's two lanes.
  @Test(
    arguments: [
      ([general], ["general", "general", "general", "general"]),
      ([general, driver], ["driver", "driver", "general", "general"]),
      ([general, sandbox], ["general", "sandbox", "general", "sandbox"]),
      ([general, driverSandbox], ["general", "driver-sandbox", "general", "general"]),
      ([general, driver, sandbox], ["driver", "sandbox", "general", "sandbox"]),
      ([general, driver, driverSandbox], ["driver", "driver-sandbox", "general", "general"]),
      ([general, sandbox, driverSandbox], ["general", "driver-sandbox", "general", "sandbox"]),
      (
        [general, driver, sandbox, driverSandbox],
        ["driver", "driver-sandbox", "general", "sandbox"]
      ),
      ([general, driver, otherTeam], ["driver", "driver", "general", "general"]),
      // The sandbox key belongs to the general team.
      ([general, driver, sandbox, otherTeam], ["driver", "driver", "general", "sandbox"]),
      (
        [general, driver, sandbox, driverSandbox, otherTeam],
        ["driver", "driver-sandbox", "general", "sandbox"]
      ),
      ([general, certificate], ["general+cert", "general+cert", "general", "general"]),
      ([general, driver, certificate], ["driver+cert", "driver+cert", "general", "general"]),
      ([general, sandbox, certificate], ["general+cert", "sandbox+cert", "general", "sandbox"]),
      (
        [general, driverSandbox, certificate],
        ["general+cert", "driver-sandbox", "general", "general"]
      ),
      ([general, certificate, otherTeam], ["cert", "cert", "general", "general"]),
    ] as [([[String: String]], [String])])
  func `R99: the most specific credential of a lane is used`(
    parts: [[String: String]], expected: [String]
  ) {
    let variables = Self.read(parts)
    #expect(variables.problems == [] && variables.warnings == [])
    let lanes: [(App, APNsEnvironment)] = [
      (.driver, .production), (.driver, .sandbox), (.customer, .production), (.customer, .sandbox),
    ]
    let found = lanes.map { app, environment in
      let source = variables.lanes[.init(app, environment)]
      let key = source?.key.map { String($0.path.dropLast(".p8".count)) }
      return [key, source?.certificate.map { _ in "cert" }].compactMap { $0 }.joined(separator: "+")
    }
    #expect(found == expected)
  }

  @Test func `R99: a key of its own may have an ID and a team of its own`() {
    let variables = Self.read([
      Self.general, Self.driver, Self.otherTeam, ["APNS_DRIVER_KEY_ID": "DRIVER0001"],
    ])
    let key = variables.lanes[.init(.driver, .production)]?.key
    #expect(key?.keyID == "DRIVER0001" && key?.teamID == "OTHERTEAM1")
    #expect(key?.pathName == "APNS_DRIVER_PRIVATE_KEY_PATH")
    let plain = Self.read([Self.general, Self.driver]).lanes[.init(.driver, .sandbox)]?.key
    #expect(plain?.keyID == nil && plain?.teamID == "TEAMTEAM01", "the ID is in the file's name")
  }

  @Test(
    arguments: [
      ([], ["APNS_PRIVATE_KEY_PATH, APNS_TEAM_ID, and APNS_KEY_ID unless"]),
      ([["APNS_TEAM_ID": "TEAMTEAM01"]], ["not set in the environment: APNS_PRIVATE_KEY_PATH"]),
      ([["APNS_KEY_ID": "GENERAL001"]], ["APNS_KEY_ID is set without APNS_PRIVATE_KEY_PATH"]),
      (
        [["APNS_PRIVATE_KEY_PATH": "a.p8"]], ["APNS_PRIVATE_KEY_PATH is set without APNS_TEAM_ID,"]
      ),
      (
        [general, ["APNS_DRIVER_KEY_ID": "DRIVER0001"]],
        ["APNS_DRIVER_KEY_ID is set without APNS_DRIVER_PRIVATE_KEY_PATH"]
      ),
      (
        [general, ["APNS_SANDBOX_KEY_ID": "DRIVER0001"]],
        ["APNS_SANDBOX_KEY_ID is set without APNS_SANDBOX_PRIVATE_KEY_PATH"]
      ),
      (
        [general, ["APNS_DRIVER_SANDBOX_KEY_ID": "DRIVER0001"]],
        ["APNS_DRIVER_SANDBOX_KEY_ID is set without APNS_DRIVER_SANDBOX_PRIVATE_KEY_PATH"]
      ),
      (
        [general, ["APNS_DRIVER_CERTIFICATE_PATH": "a.pem"]],
        ["APNS_DRIVER_CERTIFICATE_PATH is set without APNS_DRIVER_CERTIFICATE_KEY_PATH"]
      ),
      (
        [general, ["APNS_DRIVER_CERTIFICATE_KEY_PATH": "a.key"]],
        ["APNS_DRIVER_CERTIFICATE_KEY_PATH is set without APNS_DRIVER_CERTIFICATE_PATH"]
      ),
      (
        [certificate],
        ["customer has no credential for production: set APNS_PRIVATE_KEY_PATH (all apps)"]
      ),
      (
        [driver, otherTeam],
        ["APNS_CUSTOMER_PRIVATE_KEY_PATH (a key of its own) or APNS_CUSTOMER_CERTIFICATE_PATH"]
      ),
      (
        [general, otherTeam],
        [
          "driver has no key of its team: APNS_DRIVER_TEAM_ID is not the team of "
            + "APNS_PRIVATE_KEY_PATH; set APNS_DRIVER_PRIVATE_KEY_PATH"
        ]
      ),
      (
        [general, ["APNS_SANDBOX_BUNDLE_ID": "com.example.sandbox"]],
        ["APNS_SANDBOX_BUNDLE_ID names an app sandbox"]
      ),
      (
        [general, ["APNS_WIDGET_BUNDLE_ID": "com.example.widget"]],
        ["APNS_WIDGET_BUNDLE_ID names an app widget"]
      ),
      (
        [general, ["APNS_DRIVER_SANDBOX_BUNDLE_ID": "com.example.driver"]],
        ["APNS_DRIVER_SANDBOX_BUNDLE_ID names an app driver_sandbox"]
      ),
      (
        [
          ["APNS_CUSTOMER_KEY_ID": "A", "APNS_DRIVER_CERTIFICATE_PATH": "b", "APNS_TEAM_ID": "T"]
        ],
        ["APNS_CUSTOMER_KEY_ID is set without", "APNS_DRIVER_CERTIFICATE_PATH is set without"]
      ),
    ] as [([[String: String]], [String])])
  func `R99: a bad combination is named with its variables`(
    parts: [[String: String]], expected: [String]
  ) {
    let problems = Self.read(parts).problems
    #expect(problems.count == expected.count, "\(problems)")
    for (problem, text) in zip(problems, expected) { #expect(problem.contains(text)) }
  }

  @Test func `R99: only the environment of unnamed phones needs a credential`() {
    let parts = [Self.sandbox, ["APNS_TEAM_ID": "TEAMTEAM01"]]
    #expect(Self.read(parts, standard: .sandbox).problems == [])
    let problems = Self.read(parts).problems
    #expect(problems.allSatisfy { $0.contains("has no credential for production") })
    #expect(problems.count == 2)
  }

  @Test func `R99: a variable that belongs to no app is reported with the nearest one`() {
    let variables = Self.read(
      [
        Self.general,
        [
          "APNS_DRVER_PRIVATE_KEY_PATH": "a.p8", "APNS_CERTIFICATE_PATH": "b.pem",
          "APNS_SANDBOX_TEAM_ID": "TEAMTEAM02", "APNS_FOOD_COURIER_KEY_ID": "COURIER001",
          "APNS_FOOD_COURIER_PRIVATE_KEY_PATH": "c.p8", "APNS_EMPTY_KEY_ID": "",
        ],
      ], apps: [.customer, .driver, App(rawValue: "food-courier")])
    #expect(variables.problems == [])
    #expect(variables.warnings.count == 3, "\(variables.warnings)")
    #expect(variables.warnings[1].contains("did you mean APNS_DRIVER_PRIVATE_KEY_PATH?"))
    let key = variables.lanes[.init(App(rawValue: "food-courier"), .production)]?.key
    #expect(key?.keyID == "COURIER001", "- in an app's name is _ in its variables")
  }

  @Test func `R99: bundle IDs go by the apps' own spelling`() throws {
    let (hyphen, plain) = (App(rawValue: "food-courier"), App(rawValue: "food_courier"))
    let values = APNsVariables.bundleIDs(["APNS_FOOD_COURIER_BUNDLE_ID": "com.example.food"])
    #expect(values == [plain: "com.example.food"])
    #expect(APNsVariables.spelled(values, as: [hyphen]) == [hyphen: "com.example.food"])
    #expect(APNsVariables.spelled(values, as: [hyphen, plain]).count == 2)
    #expect(APNsVariables.spelled(values, as: [.driver]) == values)
  }
}

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
    #expect(doubts[0].contains("cards of the app driver can't be sent"))
    #expect(doubts[1].contains("is a certificate for com.example.other"))
    #expect(doubts[2].contains("APNS_DRIVER_CERTIFICATE_PATH expires on"))
    #expect(advice([], now + .seconds(11 * 86_400))[1].contains("expired on"))
    #expect(advice([], now - .seconds(30 * 86_400)).count == 1)
  }
}
