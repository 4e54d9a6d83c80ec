import Base
import Foundation
import PushClient
import RideCore
import Testing
import TestSupport

@testable import RidePulse

@Suite final class FCMVariablesTests {
  private let folder: String

  init() throws { folder = try ScratchFolder.create() }

  deinit { ScratchFolder.remove(folder) }

  /// Writes a service account's file, and returns its path.
  private func account(_ name: String, project: String) throws -> String {
    let made = try Tool.run(
      "/usr/bin/openssl",
      ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", name + ".pem"],
      in: folder)
    try #require(made.status == 0, "\(made.errors)")
    let key = try String(contentsOfFile: "\(folder)/\(name).pem", encoding: .utf8)
    let file: JSONValue = .object([
      "type": .string("service_account"), "project_id": .string(project),
      "private_key_id": .string("3f9a21\(name)"), "private_key": .string(key),
      "client_email": .string("ridepulse@\(project).iam.gserviceaccount.com"),
      "token_uri": .string("https://oauth2.googleapis.com/token"),
    ])
    let path = "\(folder)/\(name).json"
    try Data(file.json).write(to: URL(fileURLWithPath: path))
    return path
  }

  private func failure(_ body: () throws -> Void) -> String {
    do {
      try body()
      return "no failure"
    } catch { return "\(error)" }
  }

  @Test func `An app's own file precedes the general one, which is for all apps of the rules`()
    throws
  {
    let courier = App(rawValue: "food-courier")
    let environment = [
      "FCM_SERVICE_ACCOUNT_PATH": "/general", "FCM_FOOD_COURIER_SERVICE_ACCOUNT_PATH": "/courier",
      "FCM_DRIVER_SERVICE_ACCOUNT_PATH": "",
    ]
    let variables = try FCMVariables(environment).spelled(as: [.customer, .driver, courier])
    #expect(variables.apps == [.customer, .driver, courier])
    #expect(variables.source(of: .driver)?.path == "/general")
    #expect(variables.source(of: courier)?.path == "/courier")
    let own = try FCMVariables(["FCM_DRIVER_SERVICE_ACCOUNT_PATH": "/driver"])
      .spelled(as: [.customer, .driver])
    #expect(own.apps == [.driver])
    #expect(own.source(of: .customer) == nil)
    #expect(own.warnings.isEmpty)
    let misspelled = try FCMVariables(["FCM_DRVER_SERVICE_ACCOUNT_PATH": "/driver"])
    #expect(
      misspelled.spelled(as: [.driver]).warnings
        == ["FCM_DRVER_SERVICE_ACCOUNT_PATH has no effect: no rule is for an app of that name"])
  }

  @Test func `Without a service account there is nothing of FCM`() throws {
    for environment in [
      [:], ["FCM_SERVICE_ACCOUNT_PATH": ""], ["FCM_URL": "https://127.0.0.1:2198"],
      ["GOOGLE_APPLICATION_CREDENTIALS": "/nope"],
    ] {
      let variables = try FCMVariables(environment).spelled(as: [.customer])
      #expect(variables.isEmpty && variables.apps.isEmpty, "\(environment)")
      #expect(try variables.load().isEmpty)
    }
  }

  @Test(arguments: [
    (
      ["FCM_URL": "http://127.0.0.1"],
      "FCM_URL: \"http://127.0.0.1\" is not an endpoint: it does not begin with https://"
    ),
    (["FCM_URL": "https://127.0.0.1/v1"], "is not an endpoint: it has a path"),
    (["FCM_CA_FILE": "/nope"], "FCM_CA_FILE: can't read /nope"),
  ]) func `A variable that can't be used is named`(environment: [String: String], text: String) {
    #expect(failure { _ = try FCMVariables(environment) }.contains(text))
  }

  @Test func `Every bad file is named with its variable, and nothing of its content`() throws {
    let secret = "abracadabra"
    try Data(secret.utf8).write(to: URL(fileURLWithPath: folder + "/no.json"))
    let variables = try FCMVariables([
      "FCM_CUSTOMER_SERVICE_ACCOUNT_PATH": "/nope", "FCM_DRIVER_SERVICE_ACCOUNT_PATH": folder,
      "FCM_FLEET_SERVICE_ACCOUNT_PATH": folder + "/no.json",
      "FCM_STAFF_SERVICE_ACCOUNT_PATH":
        #"{"type": "service_account", "private_key": "\#(secret)"}"#,
    ])
    let text = failure { _ = try variables.load() }
    for part in [
      "FCM_CUSTOMER_SERVICE_ACCOUNT_PATH: /nope is not a usable", "No such file",
      "FCM_DRIVER_SERVICE_ACCOUNT_PATH: \(folder) is not a usable",
      "FCM_FLEET_SERVICE_ACCOUNT_PATH: ",
      "FCM_STAFF_SERVICE_ACCOUNT_PATH contains the file itself; expected its path",
    ] {
      #expect(text.contains(part), "\(text)")
    }
    #expect(!text.contains(secret))
  }

  @Test func `A reload keeps to the project, and takes another key of it`() throws {
    let path = try account("a", project: "rides-prod")
    let variables = try FCMVariables(["FCM_SERVICE_ACCOUNT_PATH": path])
      .spelled(as: [.customer, .driver])
    let old = Credentials(lanes: try variables.load(), bundleIDs: [:])
    #expect(variables.projects(in: old) == [.customer: "rides-prod", .driver: "rides-prod"])
    #expect(try variables.reload(after: old) == old.lanes)

    func replace(by other: String) throws {
      try Data(contentsOf: URL(fileURLWithPath: other)).write(to: URL(fileURLWithPath: path))
    }
    try replace(by: try account("b", project: "rides-prod"))
    #expect(try variables.reload(after: old) != old.lanes)
    try replace(by: try account("c", project: "rides-test"))
    let text = failure { _ = try variables.reload(after: old) }
    #expect(
      text.contains("FCM_SERVICE_ACCOUNT_PATH leads to a file of the project rides-test now"),
      "\(text)")
  }

  @Test func `A new app of the rules has the general account, also if its file is broken by then`()
    throws
  {
    let path = try account("d", project: "rides-prod")
    let variables = try FCMVariables(["FCM_SERVICE_ACCOUNT_PATH": path])
    let courier = App(rawValue: "courier")
    let old = Credentials(
      lanes: try variables.spelled(as: [.customer]).load(), bundleIDs: [:])
    let account = old[.init(.customer, .android)]
    #expect(account.serviceAccount != nil)
    let both = variables.spelled(as: [.customer, courier])
    #expect(try both.reload(after: old)[.init(courier, .android)] == account)
    try Data("abracadabra".utf8).write(to: URL(fileURLWithPath: path))
    #expect(!failure { _ = try both.reload(after: old) }.isEmpty)
    #expect(
      both.kept(of: old) == [
        .init(.customer, .android): account, .init(courier, .android): account,
      ])
    // An app with a file of its own does not get another one's.
    let own = try FCMVariables([
      "FCM_SERVICE_ACCOUNT_PATH": path, "FCM_COURIER_SERVICE_ACCOUNT_PATH": "/nope",
    ]).spelled(as: [.customer, courier])
    #expect(own.kept(of: old) == [.init(.customer, .android): account])
    #expect(variables.spelled(as: [courier]).kept(of: old).isEmpty)
  }

  @Test func `FCM alone needs no variable of APNs, and nothing at all is refused`() throws {
    #expect(
      failure { _ = try APNsVariables([:]) }.contains(
        "not set in the environment: APNS_CUSTOMER_BUNDLE_ID"))
    let apns = try APNsVariables(["FCM_SERVICE_ACCOUNT_PATH": "/nope"]).spelled(as: [.driver])
    #expect(apns.apps == [.driver])
    // A half-configured APNs is still a mistake.
    #expect(
      failure {
        _ = try APNsVariables([
          "FCM_SERVICE_ACCOUNT_PATH": "/nope", "APNS_DRIVER_BUNDLE_ID": "com.example.driver",
        ])
      }.contains("APNS_PRIVATE_KEY_PATH"))
  }
}
