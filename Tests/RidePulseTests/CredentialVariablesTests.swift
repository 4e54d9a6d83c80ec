import Foundation
import PushClient
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
    let lanes: [(App, PushNetwork)] = [
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
    #expect(key?.teamIDName == "APNS_DRIVER_TEAM_ID" && plain?.teamIDName == "APNS_TEAM_ID")
  }

  private static let misplaced = "a certificate is for one app and both environments: "

  @Test(
    arguments: [
      ("APNS_DRIVER_SANDBOX_CERTIFICATE_PATH", "APNS_DRIVER_CERTIFICATE_PATH"),
      ("APNS_DRIVER_SANDBOX_CERTIFICATE_KEY_PATH", "APNS_DRIVER_CERTIFICATE_KEY_PATH"),
      ("APNS_SANDBOX_CERTIFICATE_PATH", "APNS_<APP>_CERTIFICATE_PATH"),
      ("APNS_CERTIFICATE_PATH", "APNS_<APP>_CERTIFICATE_PATH"),
    ])
  func `R105: a certificate of no app, or of one environment, has no effect`(
    name: String, right: String
  ) {
    let text = "\(name) has no effect: \(Self.misplaced)\(right)"
    let good = Self.read([Self.general, [name: "a.pem"]])
    #expect(good.problems == [] && good.warnings == [text])
    // Without any other credential it is the reason why the service does not start.
    let alone = Self.read([[name: "a.pem"]])
    #expect(alone.problems.last == text && alone.warnings == [], "\(alone.problems)")
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
    let hint = "did you mean APNS_DRIVER_PRIVATE_KEY_PATH?"
    #expect(variables.warnings.contains { $0.contains(hint) })
    let key = variables.lanes[.init(App(rawValue: "food-courier"), .production)]?.key
    #expect(key?.keyID == "COURIER001", "- in an app's name is _ in its variables")
  }

  @Test func `R99: bundle IDs go by the apps' own spelling`() throws {
    let (hyphen, plain) = (App(rawValue: "food-courier"), App(rawValue: "food_courier"))
    let values = APNsVariables.bundleIDs(["APNS_FOOD_COURIER_BUNDLE_ID": "com.example.food"])
    #expect(values == [plain: "com.example.food"])
    #expect(ServiceVariables.spelled(values, as: [hyphen]) == [hyphen: "com.example.food"])
    #expect(ServiceVariables.spelled(values, as: [hyphen, plain]).count == 2)
    #expect(ServiceVariables.spelled(values, as: [.driver]) == values)
  }
}
