import Base
import LocalStack
import RideCore
import Testing
import TestSupport

@Suite("Apple's newer push types and keys") struct AppleTests {
  private static let rules = """
    rules:
      - { name: widget, app: customer_widgets, on: driver_arrived, widgets: {}, expires: 5m }
      - { name: control, app: customer_controls, on: driver_arrived, controls: {}, expires: never-store }
      - name: locate
        app: driver_location
        on: driver_arrived
        location: {}
        data: { ride_id: "{{ride.id}}" }
        expires: 1h
      - name: unobtrusive
        app: customer
        on: driver_en_route
        alert: { badge: 1, title: On the way, content-available: true }
        priority: 1
        expires: 5m
      - name: quiet
        app: customer
        on: ride_started
        alert: { title: Enjoy the ride }
        expires: 5m
      - name: critical
        app: driver
        on: no_show
        alert:
          title: x
          sound: { name: default, critical: 1, volume: 0.5 }
          interruption-level: critical
        expires: 5m
      - name: card
        app: customer
        live-activity:
          attributes-type: RideAttributes
          content-state: { status: "{{ride.state}}" }
          end: { no_show: 0s, ride_completed: 15m }
          stale-after: 10m
          min-interval: 1s
          urgent: [driver_arrived, ride_started]
          relevance: { driver_arrived: 100 }
        expires: 5m

    """

  private static let tokens = [
    "customer_widgets": String(repeating: "a1", count: 32),
    "customer_controls": String(repeating: "a2", count: 32),
    "driver_location": String(repeating: "a3", count: 32),
  ]

  private func environment(_ stage: Stage) throws -> [String: String] {
    try stage.environment(rules: Self.rules).merging([
      "APNS_CUSTOMER_WIDGETS_BUNDLE_ID": "com.example.customer",
      "APNS_CUSTOMER_CONTROLS_BUNDLE_ID": "com.example.customer",
      "APNS_DRIVER_LOCATION_BUNDLE_ID": "com.example.driver",
    ]) { $1 }
  }

  private func prepare(_ stage: Stage) async throws {
    try await stage.addRide()
    for (app, token) in Self.tokens {
      let owner = app == "driver_location" ? "d1" : "c1"
      try await stage.sql(
        """
        select ridepulse.register_device('\(app)', '\(owner)', '\(token)');
        update ridepulse.rides set attributes = attributes || '{"\(app)_id": "\(owner)"}'
        """)
    }
    try await stage.sql(
      """
      select ridepulse.register_live_activity('r1', 'customer', 'c1', '\(CardTests.token)', 'a1')
      """)
  }

  private func state(_ stage: Stage, _ state: String) async throws {
    try await stage.sql("update ridepulse.rides set state = '\(state)' where id = 'r1'")
    try await stage.settled()
  }

  @Test func `R101: widgets, controls and location have topic, payload and token of their own`()
    async throws
  {
    try await Stage.run { stage in
      let server = try Server(try environment(stage))
      defer { server.stop() }
      try await prepare(stage)
      try await state(stage, "driver_arrived")
      let arrivals = try stage.arrivals().filter { $0.header("apns-push-type") != "liveactivity" }
      #expect(arrivals.allSatisfy { $0.isAccepted } && arrivals.count == 3)
      let expected: [(app: String, topic: String, aps: JSONValue)] = [
        (
          "customer_widgets", "com.example.customer.push-type.widgets",
          .object(["content-changed": .bool(true)])
        ),
        (
          "customer_controls", "com.example.customer.push-type.controls",
          .object(["content-changed": .bool(true)])
        ),
        ("driver_location", "com.example.driver.location-query", .object([:])),
      ]
      for (app, topic, aps) in expected {
        let arrival = try #require(arrivals.first { $0.token == Self.tokens[app] }, "\(app)")
        #expect(arrival.header("apns-topic") == topic && arrival.header("apns-priority") == "10")
        #expect(arrival.record.value(at: ["payload", "aps"]) == aps)
        #expect((arrival.header("apns-expiration") == "0") == (app == "customer_controls"))
      }
      #expect(arrivals.first { $0.token == Self.tokens["driver_location"] }?.ride == "r1")
    }
  }

  @Test func `R101: priorities, critical sounds, and alerts that wake the app`() async throws {
    try await Stage.run { stage in
      let server = try Server(try environment(stage))
      defer { server.stop() }
      try await prepare(stage)
      for name in ["driver_en_route", "ride_started", "no_show"] { try await state(stage, name) }
      let alerts = try stage.arrivals().filter { $0.header("apns-push-type") == "alert" }
      #expect(alerts.map { $0.header("apns-priority") } == ["1", "5", "10"])
      #expect(alerts.first?.aps("content-available") == "1" && alerts.first?.aps("badge") == "1")
      let sound = JSONValue.object([
        "critical": .integer(1), "name": .string("default"), "volume": .number(0.5),
      ])
      #expect(alerts.last?.record.value(at: ["payload", "aps", "sound"]) == sound)
    }
  }

  @Test func `R101: a card has relevance and dismissal by event`() async throws {
    try await Stage.run { stage in
      let server = try Server(try environment(stage))
      defer { server.stop() }
      try await prepare(stage)
      try await stage.settled()
      for name in ["driver_arrived", "ride_started", "no_show"] { try await state(stage, name) }
      let cards = try stage.arrivals().filter { $0.header("apns-push-type") == "liveactivity" }
      #expect(cards.allSatisfy { $0.isAccepted })
      let scores = cards.map { $0.aps("relevance-score") }
      #expect(scores == [nil, "100", "100", "100"])
      let end = try #require(cards.last)
      let dismissal = try #require(end.aps("dismissal-date").flatMap(Double.init))
      #expect(end.aps("event") == "end" && dismissal <= end.receivedAt)
    }
  }

  @Test func `R102: the ledger and explain have the ID of Apple's console`() async throws {
    try await Stage.run { stage in
      let server = try Server(try environment(stage))
      try await prepare(stage)
      try await state(stage, "ride_started")
      #expect(server.stop() == 0)
      // The simulator is production here, where APNs sends none.
      let ids = "select count(apns_unique_id) from ridepulse.deliveries"
      #expect(try await stage.value(ids) == "0")
      try await stage.sql(
        "update ridepulse.ledger set apns_unique_id = 'u-1' where rule = 'quiet' and attempts > 0")
      let text = try Command.ridepulse(["explain", "r1"], try environment(stage)).output
      #expect(text.contains(", apns-unique-id u-1\n"), "\(text)")
      let json = try Command.ridepulse(
        ["explain", "r1", "--format", "json"], try environment(stage)
      ).output
      #expect(json.contains(#""apns_unique_id":"u-1""#), "\(json)")
    }
  }

  @Test func `R101: the preview shows what the service sends`() async throws {
    try await Stage.run { stage in
      let environment = try environment(stage)
      try await prepare(stage)
      try await stage.sql("update ridepulse.rides set state = 'driver_arrived' where id = 'r1'")
      let preview = try Command.ridepulse(
        ["preview", "--format", "json", "--for", "1s"], environment)
      func text(_ line: JSONValue, _ key: String) -> String {
        switch line.value(at: [key]) {
        case .string(let text): text
        case .integer(let number): String(number)
        default: ""
        }
      }
      let shown = preview.output.split(separator: "\n").compactMap { JSONValue(json: $0.utf8) }
        .filter { $0.value(at: ["push_type"]) != nil }
        .map { "\(text($0, "topic")) \(text($0, "priority"))" }
      let server = try Server(environment)
      try await stage.settled()
      #expect(server.stop() == 0)
      let sent = try stage.arrivals().map {
        "\($0.header("apns-topic") ?? "") \($0.header("apns-priority") ?? "")"
      }
      #expect(shown.sorted() == sent.sorted() && sent.count == 4, "\(preview.output)")
    }
  }
}
