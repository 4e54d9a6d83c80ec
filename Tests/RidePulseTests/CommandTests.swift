import Foundation
import LocalStack
import Testing
import TestSupport

@Suite("The command line") struct CommandTests {
  @Test(arguments: ["check", "serve", "--version"])
  func `A16: too few open files are an error, not a trap`(word: String) throws {
    let result = try Command.run(
      "/bin/bash", ["-c", "ulimit -n 12; exec \(try Command.ridepulse) \(word)"],
      ["RIDEPULSE_SCHEDULES": Stage.rules])
    #expect(result.status == 1)
    #expect(
      result.errors
        == "ridepulse: at most 12 files may be open, 64 are needed: raise the limit with "
        + "ulimit -n 1024, or LimitNOFILE= of the unit\n")
  }

  /// Words, environment, exit status, and parts of the one line on standard error.
  private static let mistakes: [([String], [String: String], Int32, [String])] = [
    (["sevre"], [:], 64, ["unknown command sevre", "did you mean serve?"]),
    (["help", "sevre"], [:], 64, ["unknown command sevre", "did you mean serve?"]),
    (["help", "serve", "now"], [:], 64, ["unexpected now"]),
    (["serve", "--schedule", "x"], [:], 64, ["unknown option --schedule", "--schedules?"]),
    (["trigger"], [:], 64, ["EVENT is missing"]),
    (
      ["trigger", "driver_arrived"], ["RIDEPULSE_SCHEDULES": Stage.rules], 64,
      ["driver_arrived is a state", "--ride ID"]
    ),
    (
      ["trigger", "ride_updated", "--data", "x_id=d7"], ["RIDEPULSE_SCHEDULES": Stage.rules], 64,
      ["neither a ride nor a person", "--ride ID", "customer_id, driver_id"]
    ),
    (
      ["trigger", "driver_arrived", "--ride", String(repeating: "é", count: 257)], [:], 64,
      ["--ride has 514 bytes", "512 at most"]
    ),
    (["demo", "--for", "soon"], [:], 64, ["--for soon is not a duration", "30s"]),
    (["record", "--output", "x"], [:], 64, ["--from TIME is missing"]),
    (
      ["record", "--from", "today", "--to", "2026-11-22T00:00:00Z", "--output", "x"], [:], 64,
      ["--from today is not a time"]
    ),
    (
      [
        "record", "--from", "2026-11-21T00:00:00Z", "--to", "2026-11-21T00:00:00Z", "--output", "x",
      ], [:], 64, ["--to is not after --from"]
    ),
    (
      [
        "record", "--from", "2926-11-21T00:00:00Z", "--to", "2927-11-21T00:00:00Z", "--output", "x",
      ], [:], 64, ["--from is not in the past"]
    ),
    (["forget", "-4711"], [:], 64, ["unknown option -4711", "is given after --, as in -- -4711"]),
    (["forget", "--", "-4711", "--dry-run"], [:], 64, ["unexpected word --dry-run"]),
    (["check", "a", "b"], [:], 64, ["unexpected word b"]),
    (["serve", "--log-level", "eror"], [:], 64, ["--log-level eror", "did you mean error?"]),
    (["serve"], [:], 1, ["APNS_KEY_ID", "APNS_TEAM_ID", "APNS_PRIVATE_KEY_PATH", "BUNDLE_ID"]),
    (["migrate"], ["DATABASE_URL": "host=/nowhere"], 1, ["can't be reached", "/nowhere"]),
    (["migrate"], ["DATABASE_URL": "nonsense"], 1, ["DATABASE_URL", "cannot be read"]),
    (["serve"], apns(["APNS_PRODUCTION_URL": "http://x"]), 1, ["APNS_PRODUCTION_URL", "https://"]),
    (["serve"], apns(["APNS_PRIVATE_KEY_PATH": "/nope"]), 1, ["/nope", "No such file"]),
    (["serve"], apns(["APNS_SANDBOX": "maybe"]), 1, ["APNS_SANDBOX is maybe", "true or false"]),
    (["serve"], apns(["APNS_CA_FILE": "/nope.pem"]), 1, ["APNS_CA_FILE", "/nope.pem"]),
    (["serve"], apns(["RIDEPULSE_SCHEDULES": "/nope"]), 1, ["/nope", "No such file"]),
    (["legacy-gateway"], [:], 64, ["--app APP is missing"]),
    (["legacy-gateway", "--app", "driver"], apns([:]), 1, ["set APNS_DRIVER_BUNDLE_ID"]),
    (
      ["legacy-gateway", "--app", "customer", "--port", "http"], apns([:]), 64,
      ["--port http is not a whole number from 0 to 65535"]
    ),
    (
      ["legacy-gateway", "--app", "customer", "--bind", "0.0.0.0"], apns([:]), 64,
      ["needs --client-ca"]
    ),
    (
      ["legacy-gateway", "--app", "customer", "--environment", "sandbx"], apns([:]), 64,
      ["did you mean sandbox?"]
    ),
  ]

  private static func apns(_ changed: [String: String]) -> [String: String] {
    [
      "APNS_KEY_ID": "ABC123DEFG", "APNS_TEAM_ID": "DEF123GHIJ",
      "APNS_PRIVATE_KEY_PATH": #filePath, "APNS_CUSTOMER_BUNDLE_ID": "com.example.customer",
      "RIDEPULSE_SCHEDULES": Stage.rules, "DATABASE_URL": "host=/nowhere",
    ].merging(changed) { _, new in new }
  }

  @Test(arguments: mistakes.indices)
  func `A mistake gets one message and its exit status`(index: Int) throws {
    let (words, environment, status, expected) = Self.mistakes[index]
    let result = try Command.ridepulse(words, environment, in: "/tmp")
    #expect(result.status == status, "\(result.errors)")
    for text in expected { #expect(result.errors.contains(text), "\(result.errors)") }
    #expect(result.output.isEmpty)
    #expect(!result.errors.contains("Fatal error"))
  }

  @Test(arguments: [
    "serve", "trigger", "push", "broadcast", "preview", "check", "generate", "doctor", "migrate",
    "demo",
    "legacy-gateway",
  ])
  func `Each command has its help`(command: String) throws {
    let result = try Command.ridepulse([command, "--help"])
    #expect(result.status == 0)
    #expect(result.output.contains("Usage: ridepulse \(command)"))
    #expect(result.output.contains("--help"))
    #expect(try Command.ridepulse(["help", command]).output == result.output)
  }

  @Test func `check reports problems with status 2, one line and location each`() throws {
    let directory = "/tmp/ridepulse-check-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try Data("rules:\n  - nam: x\n".utf8).write(to: URL(fileURLWithPath: directory + "/a.yaml"))
    let result = try Command.ridepulse(["check", directory])
    #expect(result.status == 2)
    #expect(result.output.contains("/a.yaml:2:5: unknown key \"nam\""))
    let good = try Command.ridepulse(["check", Stage.rules])
    #expect(good.status == 0)
    #expect(good.output.hasSuffix("50 rules in 3 files, no problems\n"))
    let widget = try Command.ridepulse(
      ["check", Stage.rules], ["APNS_CUSTOMER_WIDGET_BUNDLE_ID": "com.example.rider.widget"])
    #expect(
      widget.output.contains(
        "APNS_CUSTOMER_WIDGET_BUNDLE_ID: warning: cards go to "
          + "com.example.rider.widget.push-type.liveactivity"))
  }

  @Test func `migrate works from a copied binary, concurrently, and repeatedly`() async throws {
    let conninfo = try await LocalCluster.shared().freshDatabase()
    let directory = "/tmp/ridepulse-alone-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try FileManager.default.copyItem(
      atPath: try Command.ridepulse, toPath: directory + "/ridepulse")
    let migrate = { @Sendable (words: [String]) in
      try Command.run(
        directory + "/ridepulse", ["migrate"] + words, ["DATABASE_URL": conninfo], in: directory)
    }
    #expect(try migrate(["--dry-run"]).output.contains("would apply 0001_rides"))
    let lack = try migrate(["--check"])
    #expect(lack.status == 2)
    #expect(lack.output.hasPrefix("the database lacks 0001_rides, "))
    let serve = try Command.ridepulse(
      ["serve", "--once"],
      Self.apns(["DATABASE_URL": conninfo, "APNS_PRIVATE_KEY_PATH": try signingKey(directory)]))
    #expect(serve.status == 1)
    #expect(serve.errors.contains("run: ridepulse migrate"), "\(serve.errors)")
    let outputs = try await withThrowingTaskGroup { group in
      for _ in 1...4 { group.addTask { try migrate([]) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(outputs.allSatisfy { $0.status == 0 })
    let applied = outputs.map { $0.output.components(separatedBy: "0001_rides").count - 1 }
    #expect(applied.reduce(0, +) >= 1)
    #expect(try migrate([]).output == "the schema is current\n")
    let fits = try migrate(["--check"])
    #expect(fits.status == 0 && fits.output == "the schema fits\n")
  }

  private func signingKey(_ directory: String) throws -> String {
    let path = directory + "/key.p8"
    let made = try Command.run(
      "/usr/bin/openssl",
      ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path])
    #expect(made.status == 0, "\(made.errors)")
    return path
  }
}
