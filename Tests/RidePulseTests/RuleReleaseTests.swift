import Base
import Foundation
import LocalStack
import PostgresStore
import RideCore
import Testing
import TestSupport

@Suite("Rules as a release", .timeLimit(.minutes(60))) struct RuleReleaseTests {
  private static func rules(_ title: String, key: String = "title") -> String {
    """
    rules:
      - name: arrived
        app: customer
        on: driver_arrived
        alert: { \(key): "\(title)" }
        expires: 1h

    """
  }

  private static let misspelt = rules("Two", key: "titel")

  /// Returns the environment with rule files of its own for one node.
  private func environment(
    _ stage: Stage, node: String, rules text: String, strings: String? = nil
  ) throws -> [String: String] {
    let folder = "\(stage.directory)/rules-\(node)"
    try FileManager.default.createDirectory(
      atPath: folder + "/strings", withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(fileURLWithPath: folder + "/a.yaml"))
    if let strings {
      try Data(strings.utf8).write(to: URL(fileURLWithPath: folder + "/strings/en.yaml"))
    }
    return stage.environment.merging(["RIDEPULSE_SCHEDULES": folder]) { $1 }
  }

  private func arrive(_ stage: Stage) async throws -> String? {
    try await stage.sql("select ridepulse.emit('driver_arrived', 'r1')")
    try await stage.settled()
    return try stage.arrivals().last?.text("payload", "aps", "alert", "title")
  }

  private func metric(_ api: APIClient) throws -> String? {
    try api.get("/metrics").text.split(separator: "\n")
      .first { $0.hasPrefix("ridepulse_rules_refused ") }.map(String.init)
  }

  private let stored = "select count(*) from ridepulse.rule_sets"

  @Test func `a reload over HTTP names what changed, or every problem with its place`()
    async throws
  {
    try await Stage.run { stage in
      let (server, api) = try await APIClient.serve(
        try environment(stage, node: "a", rules: Self.rules("One")))
      try await stage.addRide(state: "driver_en_route")
      #expect(try await arrive(stage) == "One")
      #expect(try metric(api) == "ridepulse_rules_refused 0")
      try await stage.until(stored, is: "1")
      _ = try environment(
        stage, node: "a",
        rules: Self.rules("Two") + "  - { name: hi, app: driver, on: requested, background: {} }\n")
      let done = try api.send("POST", "/v1/reload", nil)
      #expect(done.status == 200, "\(done)")
      #expect(done.body?.value(at: ["added"])?.texts == ["hi"])
      #expect(done.body?.value(at: ["changed"])?.texts == ["arrived"])
      #expect(done.body?.value(at: ["removed"])?.texts == [])
      #expect(try await arrive(stage) == "Two")
      let digest = done.string("digest") ?? ""
      try await stage.until(
        "select count(*) from ridepulse.rule_sets where digest = '\(digest)'", is: "1")

      _ = try environment(stage, node: "a", rules: Self.misspelt)
      let refused = try api.send("POST", "/v1/reload", nil)
      #expect(refused.status == 422 && refused.code == "rules_refused", "\(refused)")
      let problem = refused.body?.value(at: ["problems"])?.elements.first
      #expect(problem?.value(at: ["line"]) == .integer(5))
      #expect(problem?.value(at: ["file"])?.texts.first?.hasSuffix("/a.yaml") == true)
      #expect(problem?.value(at: ["message"])?.texts.first?.contains("titel") == true)
      #expect(try await arrive(stage) == "Two")
      #expect(try metric(api) == "ridepulse_rules_refused 1")
      let ready = try api.get("/readyz")
      #expect(ready.status == 200 && ready.text.contains("rules: unchanged, "), "\(ready)")
      try await stage.until(
        "select count(*) from ridepulse.nodes where rules_problem like '%titel%'", is: "1")
      #expect(try await stage.value(stored) == "2")

      _ = try environment(stage, node: "a", rules: Self.rules("Three"))
      #expect(try api.send("POST", "/v1/reload", nil).status == 200)
      #expect(try metric(api) == "ridepulse_rules_refused 0")
      #expect(try api.get("/readyz").text == "ready\n")
      var stranger = api
      stranger.token = "wrong"
      #expect(try stranger.send("POST", "/v1/reload", nil).status == 401)
      #expect(server.stop() == 0)
    }
  }

  @Test func `a node that restarts with a bad file starts with the last good rules`() async throws {
    try await Stage.run { stage in
      let text = Self.rules("{{strings.here}}")
      let strings = "here: Here\n"
      let first = try Server(
        try environment(stage, node: "a", rules: text, strings: strings))
      let second = try Server(
        try environment(stage, node: "b", rules: text, strings: strings))
      try await stage.addRide(state: "driver_en_route")
      try await stage.until(stored, is: "1")
      #expect(first.stop() == 0)

      let bad = try environment(stage, node: "a", rules: Self.misspelt)
      let (again, api) = try await APIClient.serve(bad)
      try await again.waitForLog("Starting with the last good rules of the database")
      try await again.waitForLog("titel")
      #expect(second.stop() == 0)
      #expect(try await arrive(stage) == "Here")
      #expect(try api.get("/readyz").text.hasPrefix("ready\nrules: last good, "))
      #expect(try metric(api) == "ridepulse_rules_refused 1")
      try await stage.until(
        "select count(*) from ridepulse.nodes where rules_problem like '%titel%'", is: "1")
      let checks = try Checkup(bad)
      #expect(
        checks.checks.contains {
          $0.name.hasPrefix("rules of ") && $0.standing == "warning" && $0.what.contains("titel")
        }, "\(checks)")

      _ = try environment(stage, node: "a", rules: Self.rules("Better"))
      again.hangUp()
      try await again.waitForLog("Rule files reloaded")
      #expect(try await arrive(stage) == "Better")
      #expect(try api.get("/readyz").text == "ready\n")
      #expect(again.stop() == 0)
    }
  }

  @Test func `without good rules in the database a bad file ends the start`() async throws {
    try await Stage.run { stage in
      let bad = try environment(stage, node: "a", rules: Self.misspelt)
      let result = try Command.ridepulse(["serve"], bad)
      #expect(result.status == 1)
      #expect(result.errors.contains("titel") && result.errors.contains("no good rules"))
      // Stored texts that are not what a node loaded are not used.
      try await stage.sql(
        """
        insert into ridepulse.rule_sets (digest, names, texts, version)
        values (repeat('a', 64), '{a.yaml}', array['events: [ping]'], '0.1.0')
        """)
      #expect(try Command.ridepulse(["serve"], bad).status == 1)
    }
  }

  private static let renamed = "alter schema ridepulse rename to elsewhere"

  @Test func `a reload that is asked for before the last good rules are found is made then`()
    async throws
  {
    try await Stage.run { stage in
      let first = try Server(try environment(stage, node: "a", rules: Self.rules("One")))
      try await stage.until(stored, is: "1")
      #expect(first.stop() == 0)
      let bad = try environment(stage, node: "a", rules: Self.misspelt)
      try await stage.sql(Self.renamed)
      let again = try Server(bad, until: "Waiting for the schema")
      again.hangUp()
      try await stage.sql("alter schema elsewhere rename to ridepulse")
      try await again.waitForLog(" Serving")
      try await again.waitForLog("Rule files not reloaded")
      #expect(again.stop() == 0)
    }
  }

  @Test func `SIGTERM ends the wait for the last good rules at once`() async throws {
    try await Stage.run { stage in
      let bad = try environment(stage, node: "a", rules: Self.misspelt)
      try await stage.sql(Self.renamed)
      let server = try Server(bad, until: "Waiting for the schema")
      #expect(server.stop() == 0, "\(server.log)")
      #expect(server.log.contains("Stopped"), "\(server.log)")
    }
  }

  @Test func `nodes whose rules differ for long name each other`() async throws {
    try await Stage.run { stage in
      let (one, api) = try await APIClient.serve(
        try environment(stage, node: "a", rules: Self.rules("One")))
      let two = try Server(try environment(stage, node: "b", rules: Self.rules("Two")))
      try await stage.until(
        "select count(distinct revision) from ridepulse.nodes where rules_since is not null",
        is: "2")
      one.hangUp()
      try await one.waitForLog("Rule files reloaded")
      #expect(try api.get("/readyz").text == "ready\n")
      try await stage.sql(
        "update ridepulse.nodes set rules_since = rules_since - interval '1 minute'")
      one.hangUp()
      try await one.waitForLog("Nodes decide with different rules")
      #expect(try api.get("/readyz").text.contains("rules: the nodes differ: "))
      let checks = try Checkup(stage.environment)
      checks.expect("rules of nodes", "warning", "different rules")
      #expect(two.stop() == 0)
      one.hangUp()
      try await one.waitForLog("Nodes decide with the same rules again")
      #expect(one.stop() == 0)
    }
  }
}
