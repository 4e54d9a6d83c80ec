import Base
import Foundation
import PostgresStore
import RideCore
import Testing
import TestSupport

@Suite("Limits for each person") struct LimitTests {
  private static let cap = (count: 3, seconds: 4.0)

  private static let capped = """
    events: [ping]
    rules:
      - name: news
        app: customer
        on: ping
        alert: { title: "{{ride.id}}" }
        expires: 1h
        topic: news
        at-most: { count: \(cap.count), per: \(Int(cap.seconds))s }
    """

  @Test func `R84: two nodes and kill -9: never one push too many, and each event has a verdict`()
    async throws
  {
    let (owners, ridesOfOwner, rounds) = (4, 10, 20)
    try await Stage.run { stage in
      // Each owner has several rides and two phones.
      try await stage.sql(
        """
        insert into ridepulse.rides (id, state, customer_id)
        select 'ride-' || n, 'requested', 'c' || n % \(owners)
        from generate_series(1, \(owners * ridesOfOwner)) n;
        select ridepulse.register_device('customer', 'c' || o, md5(o || p) || md5('x' || o || p))
        from generate_series(0, \(owners - 1)) o, unnest(array['a', 'b']) p;
        delete from ridepulse.events
        """)
      let environment = try stage.environment(rules: Self.capped)
      try stage.faults(
        #"[{"match": {"every": 5}, "action": {"delay_ms": 60}}, "#
          + #"{"match": {"every": 7}, "action": {"answer": {"status": 503, "reason": "ServiceUnavailable"}}}]"#
      )
      var random = SeededGenerator(seed: TestSeed.value(8))
      let lasting = try Server(environment)
      defer { lasting.stop() }
      for _ in 0..<rounds {
        let server = try Server(environment)
        try await stage.sql("select ridepulse.emit('ping', id) from ridepulse.rides")
        let delay = Int.random(in: 100...700, using: &random)
        try await Task.sleep(for: .milliseconds(delay))  // poll: the kill is to come at random
        server.kill9()
      }
      try await stage.settled(within: .seconds(240))
      let events = rounds * owners * ridesOfOwner
      let verdicts = try await stage.rows(
        """
        select count(*), count(distinct event_id),
          count(*) filter (where status = 'pending')
        from ridepulse.ledger where rule = 'news'
        """)
      // One row for each phone.
      #expect(verdicts == [["\(2 * events)", "\(events)", "0"]])
      let codes = try await stage.rows(
        "select distinct coalesce(reason_code, status) from ridepulse.ledger order by 1")
      #expect(codes.contains(["over_cap"]), "\(codes)")
      try await check(stage)
    }
  }

  /// Compares what APNs accepted with the cap: firings, not phones, in each window that begins with
  /// one.
  private func check(_ stage: Stage) async throws {
    let rows = try await stage.rows(
      """
      select l.apns_id::text, l.event_id::text, d.owner_id
      from ridepulse.ledger l join ridepulse.devices d on d.id = l.device_id
      """)
    let firings = Dictionary(
      rows.map { ($0[0] ?? "", (event: $0[1] ?? "", owner: $0[2] ?? "")) },
      uniquingKeysWith: { first, _ in first })
    let sent = try stage.arrivals().filter(\.isAccepted).compactMap { arrival in
      firings[arrival.id].map { (at: arrival.receivedAt, firing: $0) }
    }
    #expect(sent.count > 10)
    var most = 0
    for (owner, sent) in Dictionary(grouping: sent, by: \.firing.owner) {
      for first in sent {
        let window = sent.filter { $0.at >= first.at && $0.at < first.at + Self.cap.seconds }
        let count = Set(window.map(\.firing.event)).count
        most = max(most, count)
        #expect(count <= Self.cap.count, "\(owner) at \(first.at)")
      }
    }
    print("caps: \(sent.count) pushes accepted, at most \(most) firings in a window")
    #expect(most == Self.cap.count)
  }

  private static let card = CardTests.rules.replacing(
    "  - name: card\n    app: customer\n",
    with: "  - name: card\n    app: customer\n    topic: card\n")

  @Test func `R82: turning the topic of a card off ends it at once, and starts none`() async throws
  {
    try await Stage.run { stage in
      let (server, api) = try await APIClient.serve(try stage.environment(rules: Self.card))
      defer { server.stop() }
      try await stage.sql(
        """
        select ridepulse.register_device('customer', 'c1', '\(Stage.customerToken)');
        insert into ridepulse.rides (id, state, customer_id) values ('r1', 'requested', 'c1');
        select ridepulse.register_live_activity('r1', 'customer', 'c1', '\(CardTests.token)', 'a1')
        """)
      func cards() throws -> [Arrival] {
        try stage.arrivals().filter { $0.header("apns-push-type") == "liveactivity" }
      }
      try await wait(until: "the card is updated") { try !cards().isEmpty }
      let answer = try api.send(
        "PUT", "/v1/preferences",
        #"{"app": "customer", "owner_id": "c1", "topic": "card", "allowed": false}"#)
      #expect(answer.status == 200 && answer.text.contains("\"changed\": true"), "\(answer)")
      try await wait(until: "the card ends") { try cards().contains { $0.aps("event") == "end" } }
      try await stage.settled()
      let end = try #require(try cards().last)
      let dismissal = try #require(end.aps("dismissal-date").flatMap { Double($0) })
      #expect(end.isAccepted && dismissal <= end.receivedAt + 1)
      #expect(
        try await stage.value("select ended_reason from ridepulse.live_activities") == "ended")
      // Another ride starts no card while the topic is off.
      try await stage.sql(
        """
        select ridepulse.register_push_to_start('customer', 'c1', '\(CardTests.startToken)',
          'RideAttributes');
        insert into ridepulse.rides (id, state, customer_id) values ('r2', 'driver_assigned', 'c1')
        """)
      try await stage.settled()
      let row = try await stage.rows(
        "select status, reason from ridepulse.deliveries where ride_id = 'r2' and rule = 'card'")
      #expect(row == [["suppressed", "the owner has turned card off"]])
      try await stage.sql("select ridepulse.set_preference('customer', 'c1', 'card', true)")
      try await stage.sql(
        "insert into ridepulse.rides (id, state, customer_id) values ('r3', 'driver_assigned', 'c1')"
      )
      try await wait(until: "a card starts") {
        try cards().contains { $0.aps("event") == "start" && $0.isAccepted }
      }
    }
  }

  @Test func `a topic, a sample and quiet hours decide what is sent, and explain shows it`()
    async throws
  {
    // Quiet from an hour ago to in three hours, in UTC.
    let hour = Int(Date().timeIntervalSince1970 / 3600)
    func time(_ hour: Int) -> String { String(format: "%02d:00", (hour + 24) % 24) }
    let rules = """
      events: [ping]
      rules:
        - { name: off, app: customer, on: ping, topic: news, alert: { title: x }, expires: 5m }
        - { name: required, app: customer, on: ping, alert: { title: x }, expires: 5m }
        - { name: some, app: customer, on: ping, if: "share('greeting') < 0.5", alert: { title: x }, expires: 5m }
        - name: night
          app: customer
          on: ping
          quiet: { from: "\(time(hour - 1))", to: "\(time(hour + 3))", time-zone: UTC, then: hold }
          alert: { title: x }
          expires: 6h
      """
    try await Stage.run { stage in
      let server = try Server(try stage.environment(rules: rules))
      defer { server.stop() }
      try await stage.sql(
        """
        insert into ridepulse.rides (id, state, customer_id)
        select 'r' || n, 'requested', 'c' || n from generate_series(1, 40) n;
        select ridepulse.register_device('customer', 'c' || n, md5(n::text) || md5('x' || n))
        from generate_series(1, 40) n;
        select ridepulse.set_preference('customer', 'c' || n, 'news', false)
        from generate_series(1, 10) n;
        select ridepulse.emit('ping', 'r' || n) from generate_series(1, 40) n
        """)
      try await stage.until(
        "select count(*) from ridepulse.ledger where event = 'ping'", is: "160")
      try await stage.until("select count(*) from ridepulse.events", is: "0")
      // What docs/rules.md gives data analysts.
      let text = try String(contentsOfFile: Project.path("docs/rules.md"), encoding: .utf8)
      let block = try #require(text.components(separatedBy: "the expression of shares").last)
      let expression = try #require(block.components(separatedBy: "```").dropFirst().first)
        .dropFirst("sql".count)
      let wrong = try await stage.value(
        """
        select count(*) from ridepulse.deliveries l
        where l.rule = 'some' and ((\(expression)) < 0.5) is distinct from (l.reason_code is null)
        """)
      #expect(wrong == "0")
      let rows = try await stage.rows(
        """
        select rule, status, reason_code, count(*) > 5 from ridepulse.ledger
        where event = 'ping' group by 1, 2, 3 order by 1, 2
        """)
      #expect(
        rows == [
          ["night", "pending", "quiet_hours", "t"], ["off", "accepted", nil, "t"],
          ["off", "suppressed", "opted_out", "t"], ["required", "accepted", nil, "t"],
          ["some", "accepted", nil, "t"], ["some", "suppressed", "condition_false", "t"],
        ])
      let explained = try Command.ridepulse(["explain", "r1"], stage.environment)
      #expect(explained.output.contains("the owner has turned news off"), "\(explained)")
      #expect(explained.output.contains("held until"), "\(explained)")
    }
  }
}
