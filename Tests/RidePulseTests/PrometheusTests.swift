import Base
import Foundation
import TestSupport
import Testing

/// Runs what `deploy/` asks of Prometheus against one that scrapes a service.
@Suite(.timeLimit(.minutes(60))) struct PrometheusTests {
  private static let rules = """
    rules:
      - name: arrived
        app: customer
        on: driver_arrived
        alert: { title: Your driver is here }
        expires: 5m
      - name: read-again
        app: driver
        on: driver_arrived
        background: {}
        expires: 5m
      - name: card
        app: customer
        live-activity:
          attributes-type: RideAttributes
          content-state: { status: "{{ride.state}}" }
          stale-after: 2m
        expires: 2m

    """

  /// What has series only in a fault, or with a part that this service does not use.
  private static let absent = [
    "ridepulse_channels_used": "no rule broadcasts",
    "ridepulse_posts_off": "a receiver answered 410",
    "ridepulse_watch_problems": "an attached table has a problem",
    "ridepulse_access_token_failures_total": "Google gives no access token",
    "ridepulse_rules_share_info": "a second directory decides a share of the rides",
  ]

  /// The queries of the dashboard's panels, with what Grafana puts in.
  private static func panels() throws -> [(title: String, query: String)] {
    let path = Project.path("deploy/grafana/ridepulse.json")
    let text = try String(contentsOfFile: path, encoding: .utf8)
    guard case .array(let panels)? = JSONValue(json: text.utf8)?.value(at: ["panels"]) else {
      throw TestFailure(path)
    }
    return panels.flatMap { panel -> [(title: String, query: String)] in
      guard case .string(let title)? = panel.value(at: ["title"]),
        case .array(let targets)? = panel.value(at: ["targets"])
      else { return [] }
      return targets.compactMap { target in
        guard case .string(let query)? = target.value(at: ["expr"]) else { return nil }
        return (
          title,
          query.replacing("$instance", with: ".*").replacing("$__rate_interval", with: "15s")
        )
      }
    }
  }

  private static func isAbsent(_ query: String) -> Bool {
    absent.keys.contains { query.contains($0) }
  }

  /// Runs `body` with a Prometheus that scrapes a service with these rules, or the shipped ones.
  private func run(
    rules: String?, _ body: (Stage, LocalPrometheus) async throws -> Void
  ) async throws {
    try await Stage.run { stage in
      var environment = try rules.map { try stage.environment(rules: $0) } ?? stage.environment
      environment["RIDEPULSE_ADMIN"] = "127.0.0.1:0"
      // Phones are counted once the service has started, then after a minute.
      try await stage.addRide("r0", state: "driver_arrived")
      let server = try Server(environment)
      defer { server.stop() }
      try await server.waitForLog("Admin server")
      let prometheus = try LocalPrometheus(
        scraping: server.field("port") ?? "", in: stage.directory)
      defer { prometheus.stop() }
      try await body(stage, prometheus)
    }
  }

  @Test func `U17: each panel of the dashboard shows a value of a service that sends`() async throws
  {
    let panels = try Self.panels()
    #expect(panels.count > 30)
    try await run(rules: Self.rules) { stage, prometheus in
      var rides = 0
      var empty: [(title: String, query: String)] = []
      try await wait(until: "each panel has a value: \(empty)", every: .seconds(1)) {
        rides += 1
        try await stage.addRide("r\(rides)", state: "driver_arrived")
        empty = try panels.filter { panel in
          if Self.isAbsent(panel.query) { return false }
          return try !prometheus.query(panel.query).contains { $0.value != "NaN" }
        }
        return empty.isEmpty
      }
      for panel in panels where Self.isAbsent(panel.query) {
        #expect(try prometheus.query(panel.query).isEmpty, "\(panel) is no exception")
      }
    }
  }

  @Test
  func `U17: each alert is evaluated, finds its series, and is quiet for a service that sends`()
    async throws
  {
    let text = try String(contentsOfFile: LocalPrometheus.rules, encoding: .utf8)
    let selectors = Set(
      text.split(separator: "\n").filter { !$0.contains("summary:") && !$0.contains("action:") }
        .flatMap { line in
          line.matches(of: /\b(?:ridepulse|process)_[a-z0-9_]+(?:\{[^}]*\})?/).map {
            String($0.output)
          }
        })
    #expect(selectors.count > 30)
    try await run(rules: nil) { stage, prometheus in
      try await stage.addRide(state: "driver_arrived")
      try await stage.settled()
      var missing: [String] = []
      try await wait(until: "there are series of \(missing)", every: .milliseconds(500)) {
        missing = try selectors.filter {
          try !Self.isAbsent($0) && prometheus.query($0).isEmpty
        }
        return missing.isEmpty
      }
      for selector in selectors where Self.isAbsent(selector) {
        #expect(try prometheus.query(selector).isEmpty, "\(selector) is no exception")
      }
      var unwell: [JSONValue] = []
      try await wait(until: "all rules were evaluated: \(unwell)", every: .milliseconds(500)) {
        let rules = try prometheus.ruleStates()
        unwell = rules.filter { $0.value(at: ["health"]) != .string("ok") }
        return rules.count > 40 && unwell.isEmpty
      }
      let firing = try prometheus.query(#"ALERTS{alertstate="firing"}"#)
      #expect(firing.isEmpty, "\(firing)")
    }
  }
}
