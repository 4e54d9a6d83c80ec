import Foundation
import LocalStack
import PostgresStore
import RideCore
import Testing
import TestSupport

@Suite("The doctor", .timeLimit(.minutes(60))) struct DoctorTests {
  static let madeUpToken = String(repeating: "0", count: 64)

  /// An environment that contacts nothing outside this machine.
  static let nowhere = [
    "APNS_PRODUCTION_URL": "https://127.0.0.1:1", "DATABASE_URL": "host=/nowhere",
  ]

  @Test func `Without settings it names each missing one and ends`() throws {
    let checkup = try Checkup(["APNS_PRODUCTION_URL": "https://127.0.0.1:1", "PGPORT": "1"])
    #expect(checkup.status == 2)
    checkup.expect("postgres", "failure", "export DATABASE_URL=")
    for name in ["schema", "rights", "listen", "clock", "dead rows", "phones"] {
      checkup.expect(name, "skipped", "needs ")
    }
    checkup.expect("key file", "failure", "export APNS_PRIVATE_KEY_PATH=")
    checkup.expect("key ID", "failure", "export APNS_KEY_ID=")
    checkup.expect("team ID", "failure", "export APNS_TEAM_ID=")
    checkup.expect("bundle IDs", "failure", "export APNS_CUSTOMER_BUNDLE_ID=")
    checkup.expect("connection production", "failure", "curl -v --http2 https://127.0.0.1:1")
    checkup.expect("push production", "skipped", "needs connection production, key, bundle IDs")
    checkup.expect("clock production", "skipped", "needs an answer from APNs")
    checkup.expect("rule files", "failure", "export RIDEPULSE_SCHEDULES=")
  }

  @Test func `Following its fixes one after another ends with all OK`() async throws {
    try await Stage.run { stage in
      try stage.tokens(
        #"{"tokens": [{"token": "\#(Self.madeUpToken)", "environment": "sandbox"}]}"#)
      let rules = try stage.environment(rules: Self.rule)["RIDEPULSE_SCHEDULES"] ?? ""
      let own = stage.environment
      let fresh = try await LocalCluster.shared().freshDatabase()
      var environment = ["APNS_PRODUCTION_URL": stage.simulator.url, "PGPORT": "1"]
      // The failing check, a part of its fix, and the action that fixes it.
      let steps: [(String, String, () async throws -> Void)] = [
        ("postgres", "export DATABASE_URL=", { environment["DATABASE_URL"] = fresh }),
        (
          "schema", "ridepulse migrate",
          {
            let status = try Command.ridepulse(["migrate"], environment).status
            #expect(status == 0)
          }
        ),
        (
          "key file", "export APNS_PRIVATE_KEY_PATH=",
          { environment["APNS_PRIVATE_KEY_PATH"] = own["APNS_PRIVATE_KEY_PATH"] }
        ),
        ("team ID", "export APNS_TEAM_ID=", { environment["APNS_TEAM_ID"] = "SIMTEAM001" }),
        (
          "bundle IDs", "export APNS_CUSTOMER_BUNDLE_ID=",
          { environment["APNS_CUSTOMER_BUNDLE_ID"] = "com.example.customer" }
        ),
        (
          "connection production", "export APNS_CA_FILE=",
          { environment["APNS_CA_FILE"] = own["APNS_CA_FILE"] }
        ),
        (
          "rule files", "export RIDEPULSE_SCHEDULES=",
          { environment["RIDEPULSE_SCHEDULES"] = rules }
        ),
      ]
      for (index, (name, words, fix)) in steps.enumerated() {
        let before = try Checkup(environment)
        before.expect(name, "failure", words)
        // Nothing that was fixed fails again.
        for (done, _, _) in steps[..<index] where done != "bundle IDs" { before.expect(done, "ok") }
        try await fix()
      }
      let registered = try Checkup(environment)
      #expect(registered.status == 0)
      registered.expect("phones customer", "warning", "ridepulse.register_device('customer'")
      let session = try PostgresSession(conninfo: fresh)
      try await session.script(
        "select ridepulse.register_device('customer', 'c1', '\(Stage.customerToken)')")
      await session.close()
      let well = try Checkup(environment)
      // The cluster of tests has no other role.
      well.expect("superuser", "warning", "ridepulse migrate --roles")
      let others = well.checks.filter { $0.name != "superuser" }
      #expect(Set(others.map(\.standing)) == ["ok"], "\(well)")
      well.expect("push production customer", "ok", "BadDeviceToken")
      well.expect("clock production", "ok", "APNs and Postgres agree")
      well.expect("listen", "ok", "came back")
      well.expect("phones customer", "ok", "1 production")
      let table = try Command.ridepulse(["doctor"], environment)
      #expect(
        table.status == 0 && table.output.hasSuffix("\n\nOK, with 1 warning\n"), "\(table.output)")
      #expect(!table.output.contains("\u{1b}"))
    }
  }

  private static let rule = """
    states: { active: [driver_arrived], final: [done] }
    rules:
      - name: arrived
        app: customer
        on: [driver_arrived, done]
        alert: { title: Here }
        expires: 5m
    """

  @Test func `An extra or unknown argument is a usage error`() throws {
    for (words, text) in [
      (["doctor", "--fromat", "json"], "did you mean --format?"),
      (["doctor", "--format", "jsn"], "did you mean json?"), (["doctor", "me"], "unexpected word"),
      (["doctr"], "did you mean doctor?"),
    ] {
      let result = try Command.ridepulse(words)
      #expect(result.status == 64 && result.errors.contains(text), "\(result)")
    }
    #expect(try Command.ridepulse(["doctor", "--help"]).output.contains("Exit status 2"))
  }

  @Test func `R60: neither a password nor a misplaced key is shown`() async throws {
    try await Stage.run { stage in
      let path = stage.environment["APNS_PRIVATE_KEY_PATH"] ?? ""
      let key = try String(contentsOfFile: path, encoding: .utf8)
      let body = try #require(key.split(separator: "\n").dropFirst().first)
      for conninfo in ["postgres://u:geheim@127.0.0.1:1/x", "password=geheim port", "geheim"] {
        let checkup = try Checkup([
          "DATABASE_URL": conninfo, "APNS_PRIVATE_KEY_PATH": key, "APNS_KEY_ID": key,
          "APNS_TEAM_ID": "geheim geheim geheim geheim",
          "APNS_PRODUCTION_URL": "https://u:geheim@127.0.0.1:1",
        ])
        checkup.expect("key file", "failure", "contains the key itself")
        checkup.expect("key ID", "failure", "characters")
        checkup.expect("endpoints", "failure", "APNS_PRODUCTION_URL")
        #expect(!checkup.description.replacing("geheim…", with: "").contains(body.prefix(12)))
        #expect(!checkup.description.contains("geheim"), "\(checkup)")
      }
    }
  }
}
