import Foundation
import LocalStack
import RideCore
import Testing
import TestSupport

@testable import RidePulse

/// Tests of `/metrics` after varied work, and of the alerts and dashboards in `deploy/`.
@Suite(.timeLimit(.minutes(60))) struct MetricsTests {
  private static let rules = """
    rules:
      - name: arrived
        app: customer
        on: driver_arrived
        alert: { title: Your driver is here }
        expires: 5m
      - name: card
        app: customer
        live-activity:
          attributes-type: RideAttributes
          content-state: { status: "{{ride.state}}" }
          stale-after: 2m
          urgent: [driver_arrived]
          urgent-per-hour: 1
        expires: 2m

    """

  private static let deploy = URL(fileURLWithPath: Stage.rules).deletingLastPathComponent()
    .appendingPathComponent("deploy").path

  private func promtool(_ words: String..., input: String? = nil) throws -> Tool {
    let shell = #"if [ -n "$INPUT" ]; then promtool "$@" < "$INPUT"; else promtool "$@"; fi"#
    return try Command.run(
      "/bin/sh", ["-c", shell, "promtool"] + words, ["INPUT": input ?? ""])
  }

  /// Returns the names of the metrics in a text.
  private func named(in text: String) -> Set<String> {
    let names = text.matches(of: /\b(?:ridepulse|process)_[a-z0-9_]+/).map { String($0.output) }
    return Set(names.map { $0.replacing(/_(bucket|sum|count)$/, with: "") })
  }

  /// Returns the names of the labels of each metric that has a series.
  private static func labels(in page: String) -> [String: Set<String>] {
    var labels: [String: Set<String>] = [:]
    for line in page.split(separator: "\n") where !line.hasPrefix("#") {
      guard let match = line.prefixMatch(of: #/(\w+)(?:\{(.*)\})?[ ]/#) else { continue }
      let name = String(match.output.1).replacing(/_(bucket|sum|count)$/, with: "")
      let found = (match.output.2 ?? "").matches(of: /(\w+)="/).map { String($0.output.1) }
      labels[name, default: []].formUnion(found.filter { $0 != "le" })
    }
    return labels
  }

  @Test func `A count of phones that did not end is not a success of its task`() async throws {
    try await Stage.run { stage in
      try await stage.sql(
        """
        update ridepulse.phone_counts set counted_at = now() - interval '1 minute', took = '10 s'
        """)
      let (server, api) = try await APIClient.serve(stage.environment)
      defer { server.stop() }
      func success(_ task: String) throws -> String? {
        let start = "ridepulse_task_last_success_timestamp_seconds{task=\"\(task)\"} "
        return try api.get("/metrics").text.split(separator: "\n").first { $0.hasPrefix(start) }
          .map { String($0.dropFirst(start.count)) }
      }
      // This task follows the one that counts.
      try await wait(until: "old rows are deleted") { try success("old_rows") != "0" }
      #expect(try success("phones") == "0")
      #expect(server.log.contains("did not end within 10s"), "\(server.log)")
    }
  }

  @Test func `Metrics count what a service did, in Prometheus' format`() async throws {
    try await Stage.run { stage in
      var environment = try stage.environment(rules: Self.rules)
      environment["RIDEPULSE_ADMIN"] = "127.0.0.1:0"
      // Phones are counted once the service has started, then after a minute.
      try await stage.addRide(state: "driver_arrived")
      let server = try Server(environment)
      defer { server.stop() }
      try await stage.settled()
      try await server.waitForLog("Admin server")
      let url = "http://127.0.0.1:\(server.field("port") ?? "")/metrics"
      let digest = server.field("digest") ?? ""
      #expect(digest.count == 12, "\(server.log)")
      let expected = [
        #"ridepulse_rules_info{digest="\#(digest)"} 1"#,
        #"ridepulse_pushes_total{app="customer",push_type="alert",status="accepted",reason=""} 1"#,
        #"ridepulse_commit_to_accepted_seconds_count{app="customer",push_type="alert"} 1"#,
        "ridepulse_ready 1", "ridepulse_database_answers 1", "ridepulse_listen_healthy 1",
        "ridepulse_rides_parked 0",
        #"ridepulse_push_connections{environment="production",credential="SIMKEY0001"} 1"#,
        #"ridepulse_lane_paused{app="customer",environment="production",cause="refused"} 0"#,
        "ridepulse_claim_failing_seconds 0", "ridepulse_node_aside 0",
        #"ridepulse_build_info{version="\#(Version.text)"} 1"#,
        #"ridepulse_slots_total{outcome="lost"} 0"#, "ridepulse_rides_live 1",
        #"ridepulse_card_runs{state="shown"} 0"#,
        #"ridepulse_rule_verdicts_total{rule="arrived",status="accepted"} 1"#,
        #"ridepulse_rule_verdicts_total{rule="arrived",status="expired"} 0"#,
        #"ridepulse_rule_verdicts_total{rule="_other",status="accepted"} 0"#,
        #"ridepulse_answer_seconds_count{app="customer",environment="production"} 1"#,
        #"ridepulse_phones{app="customer",platform="ios",state="active",reason=""} 1"#,
        #"ridepulse_database_sessions_open{purpose="claims"} 1"#,
        #"ridepulse_deferred_total{app="customer",push_type="alert",reason="waiting"} 0"#,
      ]
      // A node counts a push after its settlement, and LISTEN is healthy once it was checked.
      var page = ""
      var missing: [String] = []
      try await wait(until: "the metrics have \(missing):\n\(page)") {
        page = try Command.run("/usr/bin/curl", ["--silent", "--fail", url]).output
        let lines = page.split(separator: "\n")
        missing = expected.filter { line in !lines.contains { $0 == line } }
        // One less from midnight in UTC to the next rotation.
        let days = ["ridepulse_ledger_partitions_ahead 6", "ridepulse_ledger_partitions_ahead 7"]
        if !lines.contains(where: { days.contains(String($0)) }) { missing += days }
        return missing.isEmpty
      }
      // A task that is not run would look as if it never succeeded: no spans are exported here.
      let tasks = page.matches(of: /_success_timestamp_seconds\{task="(\w+)"\}/)
        .map { String($0.output.1) }
      let others = ServiceTask.allCases.filter { $0 != .tracedReceipts }.map(\.rawValue)
      #expect(tasks.sorted() == others.sorted())
      let file = stage.directory + "/metrics.txt"
      try Data(page.utf8).write(to: URL(fileURLWithPath: file))
      let checked = try promtool("check", "metrics", input: file)
      #expect(checked.status == 0 && checked.errors.isEmpty, "\(checked.output)\(checked.errors)")

      let known = named(in: page)
      let documents = try String(
        contentsOfFile: Self.deploy + "/../docs/metrics.md", encoding: .utf8)
      let documented = named(in: documents)
      #expect(known.subtracting(documented).isEmpty, "\(known.subtracting(documented))")
      let labels = Self.labels(in: page)
      for match in documents.matches(of: /(?m)^\| `(\w+)` \| \w+ \| ([^|]*) \|/) {
        guard let found = labels[String(match.output.1)] else { continue }
        let listed = match.output.2.split(separator: ",").map {
          $0.trimmingCharacters(in: .whitespaces)
        }
        #expect(found == Set(listed), "\(match.output.1)")
      }
      for match in page.matches(of: /# TYPE (\w+) (\w+)/) {
        let row = "| `\(match.output.1)` | \(match.output.2) |"
        #expect(documents.contains(row), "\(row)")
      }
      for path in ["/prometheus/alerts.yaml", "/grafana/ridepulse.json"] {
        let text = try String(contentsOfFile: Self.deploy + path, encoding: .utf8)
        // The text of an alert may name a table.
        let used = named(in: text)
        #expect(!used.isEmpty)
        #expect(used.subtracting(known).isEmpty, "\(path): \(used.subtracting(known))")
      }
    }
  }

  @Test func `Without Postgres the metrics are served and report that`() async throws {
    let cluster = try await LocalCluster(durability: .fast)
    try await Stage.run(cluster: cluster) { stage in
      var environment = stage.environment
      environment["RIDEPULSE_ADMIN"] = "127.0.0.1:0"
      let server = try Server(environment)
      defer { server.stop() }
      try await server.waitForLog("Admin server")
      let url = "http://127.0.0.1:\(server.field("port") ?? "")/metrics"
      await cluster.stop()
      var page = ""
      try await wait(until: "the metrics report that it is not ready: \(page)") {
        page = try Command.run("/usr/bin/curl", ["--silent", "--max-time", "60", url]).output
        return page.contains("ridepulse_ready 0\n")
          && page.contains("ridepulse_database_answers 0\n")
      }
    }
  }

  /// The metrics of a service to which nothing has happened.
  private func freshPage(_ stage: Stage) async throws -> String {
    var environment = stage.environment
    environment["RIDEPULSE_ADMIN"] = "127.0.0.1:0"
    let server = try Server(environment)
    defer { server.stop() }
    try await server.waitForLog("Admin server")
    let url = "http://127.0.0.1:\(server.field("port") ?? "")/metrics"
    return try Command.run("/usr/bin/curl", ["--silent", "--fail", url]).output
  }

  /// The series of a page that a selector of an alert matches, if their value is 0.
  private func zeros(_ page: String, _ name: String, _ selector: String) throws -> [String] {
    let matchers = try selector.matches(of: /(\w+)=(~?)"([^"]*)"/).map { match in
      let value = match.output.3
      return try Regex<Substring>("[{,]\(match.output.1)=\"(?:\(value))\"[,}]")
    }
    var found: [String] = []
    for line in page.split(separator: "\n") where line.hasPrefix(name + "{") {
      guard line.hasSuffix(" 0"), matchers.allSatisfy({ line.contains($0) }) else { continue }
      found.append(String(line.dropLast(2)))
    }
    return found
  }

  private static let unborn: Set = [
    "ridepulse_push_connections_opened_total", "ridepulse_answer_seconds_bucket",
    "ridepulse_claim_seconds_bucket",
  ]

  @Test func `U17 a fresh service exports each counter of the alerts and dashboards as 0`()
    async throws
  {
    try await Stage.run { stage in
      let page = try await freshPage(stage)
      for path in ["/prometheus/alerts.yaml", "/grafana/ridepulse.json"] {
        let text = try String(contentsOfFile: Self.deploy + path, encoding: .utf8)
          .replacing("\\\"", with: "\"")
        let used = text.matches(of: /(?:increase|rate)\((ridepulse_\w+)(?:\{([^}]*)\})?/)
        #expect(used.count > 5)
        for match in used {
          let selector = (match.output.2 ?? "").replacing(/instance=~"[^"]*",?/, with: "")
            .replacing(/\w+!="[^"]*",?/, with: "")
          let found = try zeros(page, String(match.output.1), String(selector))
          // What begins with the first connection, and calls that any start makes.
          if Self.unborn.contains(String(match.output.1)) { continue }
          #expect(!found.isEmpty, "\(path): \(match.output.0)")
        }
      }
    }
  }

  @Test func `U17 alerts fire for the first burst after a start`() async throws {
    try await Stage.run { stage in
      let page = try await freshPage(stage)
      let alerts = try String(
        contentsOfFile: Self.deploy + "/prometheus/alerts.yaml", encoding: .utf8)
      var tests =
        "rule_files: [\(Self.deploy)/prometheus/alerts.yaml]\nevaluation_interval: 30s\ntests:\n"
      var count = 0
      for alert in alerts.components(separatedBy: "- alert: ").dropFirst() {
        let name = alert.prefix { $0 != "\n" }
        let counters = alert.matches(of: /increase\((ridepulse_\w+)(?:\{([^}]*)\})?/)
        let series = try counters.flatMap {
          try zeros(page, String($0.output.1), String($0.output.2 ?? ""))
        }
        if counters.isEmpty { continue }
        count += 1
        let first = try #require(series.first, "\(name)")
        let labelled = first.replacing("{", with: #"{instance="a:9464",job="ridepulse","#)
        tests += """
            - interval: 30s
              input_series:
                - { series: '\(labelled)', values: "0 0 30x20" }
              promql_expr_test:
                - expr: 'count(ALERTS{alertname="\(name)",alertstate="firing"}) or vector(0)'
                  eval_time: 4m
                  exp_samples: [{ value: 1 }]

          """
      }
      #expect(count > 5)
      let file = stage.directory + "/burst.yaml"
      try Data(tests.utf8).write(to: URL(fileURLWithPath: file))
      let tested = try promtool("test", "rules", file)
      #expect(tested.status == 0, "\(tested.output)\(tested.errors)")
    }
  }

  /// The words of a regular expression in the alert of this name.
  private func words(_ alert: String, _ selector: String) throws -> Set<Substring> {
    let text = try String(
      contentsOfFile: Self.deploy + "/prometheus/alerts.yaml", encoding: .utf8)
    let rule = try #require(text.components(separatedBy: "- alert: \(alert)\n").dropFirst().first)
    let found = try #require(rule.components(separatedBy: selector).dropFirst().first)
    return Set(found.prefix { $0 != "\"" }.split(separator: "|"))
  }

  @Test func `R116 the alerts know every reason that is of the configuration`() throws {
    let refused = try words("RidePulseKeyRefused", "reason=~\"")
      .union(words("RidePulseTopicRefused", "reason=~\""))
    let ofServices = [APNsReason.table, FCMReason.table].flatMap(\.keys)
      .filter { LedgerReason.Code.service($0).isOfConfiguration }
    #expect(Set(ofServices.map { Substring($0) }) == refused)
    let own = LedgerReason.Engine.allCases.filter { LedgerReason.Code.engine($0).isOfConfiguration }
    let known = try words("RidePulseNotConfigured", "reason=~\"")
    #expect(Set(own.map { Substring($0.rawValue) }) == known)
  }

  /// Returns what follows `- alert: ` or `## `, by the name that it begins with, in order.
  private func sections(_ path: String, _ mark: String) throws -> [(name: String, text: String)] {
    try String(contentsOfFile: Self.deploy + path, encoding: .utf8)
      .components(separatedBy: mark).dropFirst()
      .map { (name: String($0.prefix { $0 != "\n" }), text: $0) }
  }

  @Test func `Each alert leads to its section of the runbook`() throws {
    let alerts = try sections("/prometheus/alerts.yaml", "- alert: ")
    let runbook = try sections("/../docs/runbook.md", "\n## ")
    #expect(!alerts.isEmpty && alerts.map { $0.name } == runbook.map { $0.name })
    for alert in alerts {
      let page = "file:///usr/share/doc/ridepulse/docs/runbook.md#\(alert.name.lowercased())"
      #expect(alert.text.contains("runbook_url: \"\(page)\"\n"), "\(alert.name)")
    }
    for section in runbook {
      for line in ["\n- Customers: ", "\n- First: ", "\n- Fix: "] {
        #expect(section.text.contains(line), "\(section.name): \(line)")
      }
    }
  }

  @Test func `Each alert fires when it must and is quiet otherwise`() throws {
    let rules = Self.deploy + "/prometheus/alerts.yaml"
    let checked = try promtool("check", "rules", rules)
    #expect(checked.status == 0, "\(checked.output)\(checked.errors)")
    let tested = try promtool("test", "rules", Self.deploy + "/prometheus/alerts.test.yaml")
    #expect(tested.status == 0, "\(tested.output)\(tested.errors)")
    let text = try String(contentsOfFile: rules, encoding: .utf8)
    let tests = try String(
      contentsOfFile: Self.deploy + "/prometheus/alerts.test.yaml", encoding: .utf8)
    let alerts = text.matches(of: /- alert: (\w+)/).map { String($0.output.1) }
    #expect(!alerts.isEmpty)
    for alert in alerts {
      #expect(tests.contains("name: \(alert) fires") && tests.contains("name: \(alert) is quiet"))
    }
  }
}
