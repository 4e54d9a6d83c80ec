import Base
import Foundation
import Testing
import TestSupport

/// Pauses and discards next to running nodes.
@Suite("ridepulse pause, resume and discard", .timeLimit(.minutes(60))) struct PauseServiceTests {
  private static let rules = """
    events: [ping, storm]
    rules:
      - name: pinged
        app: customer
        on: ping
        alert: { title: "Plate {{ride.attributes.plate}}" }
        expires: 1h
      - name: told
        app: driver
        on: ping
        alert: { title: "Ping" }
        expires: 1h
      - name: stormed
        app: driver
        on: storm
        alert: { title: "Storm" }
        expires: 1h

    """

  private func run(
    _ stage: Stage, _ environment: [String: String], _ words: [String], status: Int32 = 0
  ) throws -> Tool {
    let result = try Command.ridepulse(words, environment)
    #expect(result.status == status, "\(words): \(result)")
    return result
  }

  @Test func `two nodes follow a pause and its end, and nothing is lost`() async throws {
    try await Stage.run { stage in
      let environment = try stage.environment(rules: Self.rules)
      let nodes = [try Server(environment), try Server(environment)]
      defer { for node in nodes { node.stop() } }
      try await stage.addRide()
      try await stage.settled()
      let paused = try run(
        stage, environment, ["pause", "rule", "pinged", "--for", "30m", "--reason", "a typo"])
      #expect(paused.output.contains("paused rule pinged until") && paused.errors.isEmpty)
      for node in nodes { try await node.waitForLog("Pause began") }
      for _ in 0..<20 { try await stage.sql("select ridepulse.emit('ping', 'r1')") }
      try await stage.until(
        """
        select string_agg(concat_ws(' ', count, rule, status, reason_code), ', ' order by rule)
        from (select count(*), rule, status, reason_code from ridepulse.ledger
              group by rule, status, reason_code) of_rule
        """, is: "20 pinged pending paused, 20 told accepted")
      #expect(try stage.pushes().count == 20)
      #expect(try run(stage, environment, ["status"]).output.contains("rule pinged until"))
      try Checkup(environment).expect("paused rule", "warning", "ridepulse resume rule pinged")
      #expect(
        try run(stage, environment, ["explain", "r1"]).output.contains(
          "rule pinged is paused until"))

      try await stage.sql("update ridepulse.rides set attributes = '{\"plate\": \"NEW\"}'")
      let resumed = try run(stage, environment, ["resume", "rule", "pinged"])
      #expect(resumed.output.contains("a typo") && resumed.output.contains("1 ride"))
      try await stage.settled()
      let arrivals = try stage.pushes()
      #expect(arrivals.count == 40)
      let late = arrivals.filter { $0.aps("alert", "title") == "Plate NEW" }
      #expect(late.count == 20)
      #expect(Set(arrivals.map { $0.header("apns-id") ?? "" }).count == 40)
      for node in nodes {
        try await node.waitForLog("Pause ended")
        #expect(node.stop() == 0)
      }
    }
  }

  @Test(arguments: ["on", "off"])
  func `no node sends an event that is committed after a pause`(notify: String) async throws {
    try await Stage.run { stage in
      var environment = try stage.environment(rules: Self.rules)
      if notify == "off" { environment["RIDEPULSE_LISTEN"] = "off" }
      let nodes = [try Server(environment), try Server(environment)]
      defer { for node in nodes { node.stop() } }
      try await stage.addRide()
      try await stage.settled()
      for round in 1...3 {
        try await stage.sql("select ridepulse.pause('rule', 'pinged', '5 minutes', '\(round)')")
        try await stage.sql("select ridepulse.emit('ping', 'r1')")
        try await stage.until(
          "select count(*) from ridepulse.ledger where rule = 'told' and status = 'accepted'",
          is: "\(round)")
        #expect(
          try await stage.value(
            "select count(*) from ridepulse.ledger where rule = 'pinged' and status = 'pending'")
            == "1")
        #expect(try stage.pushes().count == 2 * round - 1)
        _ = try run(stage, environment, ["resume", "rule", "pinged"])
        try await stage.settled()
        #expect(try stage.pushes().count == 2 * round)
      }
      for node in nodes { #expect(node.stop() == 0) }
    }
  }

  @Test func `an idle node does not read the pauses again`() async throws {
    try await Stage.run { stage in
      let server = try Server(try stage.environment(rules: Self.rules))
      defer { server.stop() }
      try await stage.until("select bool_or(asleep) from ridepulse.nodes", is: "t")
      // What the start reads may overlap with the first claim.
      try await Task.sleep(for: .seconds(3))  // poll: the end of the start is no event
      var times: Set<String> = []
      for _ in 0..<20 {
        try await Task.sleep(for: .milliseconds(400))  // poll: what does not happen is no event
        let rows = try await stage.rows(
          """
          select pid || ' ' || query_start from pg_stat_activity
          where datname = current_database() and query like '%ridepulse.pauses%'
            and pid <> pg_backend_pid()
          """)
        times.formUnion(rows.compactMap { $0[0] })
      }
      #expect(times.count <= 1, "\(times.sorted())")
      #expect(server.stop() == 0)
    }
  }

  @Test func `a pause outlives a restart, and once follows it`() async throws {
    try await Stage.run { stage in
      let environment = try stage.environment(rules: Self.rules)
      try await stage.addRide()
      _ = try run(stage, environment, ["pause", "app", "driver"])
      try await stage.sql("select ridepulse.emit('ping', 'r1')")
      _ = try run(stage, environment, ["serve", "--once"])
      #expect(try stage.arrivals().map { $0.aps("alert", "title") } == ["Plate B-RP 1"])
      #expect(
        try await stage.value("select reason_code from ridepulse.ledger where status = 'pending'")
          == "paused")
      let (server, client) = try await APIClient.serve(environment)
      defer { server.stop() }
      try await wait(until: "the metric names it") {
        try client.get("/metrics").text.contains(#"ridepulse_paused{kind="app",name="driver"} 1"#)
      }
      #expect(server.stop() == 0)
    }
  }

  @Test func `discard ends a storm while nodes run`() async throws {
    try await Stage.run { stage in
      let environment = try stage.environment(rules: Self.rules)
      try await stage.addRide()
      _ = try run(stage, environment, ["serve", "--once"])
      _ = try run(stage, environment, ["hold", "--reason", "a storm", "--yes"])
      try await stage.sql(
        "select ridepulse.emit('storm', 'r1') from generate_series(1, 1200); "
          + "select ridepulse.emit('ping', 'r1')")
      let nodes = [try Server(environment), try Server(environment)]
      defer { for node in nodes { node.stop() } }
      let since = ["--since", "2026-01-01T00:00:00Z"]
      let dry = try run(stage, environment, ["discard", "storm"] + since + ["--dry-run"])
      #expect(dry.output == "1200 events storm would be discarded\n")
      _ = try run(stage, environment, ["discard", "storm"] + since, status: 64)
      let done = try run(stage, environment, ["discard", "storm"] + since + ["--yes"])
      #expect(done.output == "1200 events storm discarded\n")
      _ = try run(stage, environment, ["release", "--yes"])
      try await stage.settled()
      let titles = try stage.arrivals().map { $0.aps("alert", "title") ?? "" }
      #expect(titles.sorted() == ["Ping", "Plate B-RP 1"])
      #expect(
        try await stage.value(
          "select count(*) from ridepulse.ledger where reason_code = 'discarded'") == "1200")
      for node in nodes { #expect(node.stop() == 0) }
    }
  }

  @Test(
    arguments: [
      (["pause", "rul", "x"], 64, "did you mean rule?"),
      (["pause", "rule"], 64, "NAME is missing"),
      (["pause", "rule", "x", "--for", "8d"], 64, "longer than 7d"),
      (["pause", "rule", "x", "--for", "soon"], 64, "is not a duration"),
      (["pause", "rule", ""], 64, "NAME is empty"),
      (["resume", "rule", "x"], 1, "can't be reached"),
      (["discard", "storm"], 64, "--since TIME is missing"),
      (["discard", "storm", "--since", "today"], 64, "is not a time"),
      (
        ["discard", "s", "--since", "2026-01-02T00:00:00Z", "--until", "2026-01-01T00:00:00Z"], 64,
        "--until is not after --since"
      ),
    ] as [([String], Int32, String)])
  func `a mistake changes nothing`(words: [String], status: Int32, text: String) throws {
    let result = try Command.ridepulse(words, ["DATABASE_URL": "host=/nowhere"])
    #expect(result.status == status && result.errors.contains(text), "\(result.errors)")
  }

  @Test func `a name that no rule file has is paused with a warning`() async throws {
    try await Stage.run { stage in
      let environment = try stage.environment(rules: Self.rules)
      let paused = try run(stage, environment, ["pause", "rule", "pingd", "--for", "1m"])
      #expect(paused.errors.contains("did you mean pinged?"), "\(paused)")
      let other = try run(stage, environment, ["resume", "rule", "pinged"], status: 1)
      #expect(other.errors.contains("is not paused; did you mean pingd?"), "\(other)")
      _ = try run(stage, environment, ["resume", "rule", "pingd", "--format", "json"])
      let unread = try run(
        stage, environment.merging(["RIDEPULSE_SCHEDULES": "/nope"]) { $1 }, ["pause", "app", "x"])
      #expect(unread.errors.contains("/nope can't be read"), "\(unread)")
    }
  }
}
