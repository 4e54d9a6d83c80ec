import Base
import Foundation
import LocalStack
import PostgresStore
import RideCore
import Testing
import TestSupport

@Suite("Live Activity cards") struct CardTests {
  static let token = String(repeating: "ca", count: 40)
  static let startToken = String(repeating: "5a", count: 40)

  /// Rules that compress an hour to half a minute: a minute lasts half a second.
  static let rules = """
    events: [ping]
    rules:
      - name: card
        app: customer
        live-activity:
          attributes-type: RideAttributes
          attributes: { rideId: "{{ride.id}}" }
          content-state:
            status: "{{ride.state}}"
            eta: "{{ride.attributes.eta | default: 0}}"
          start: driver_assigned
          stale-after: 2m
          dismiss-after: 10m
          min-interval: 1s
          urgent: [driver_assigned, driver_en_route, driver_arrived, ride_started]
          alerts: { driver_arrived: { title: Your driver is here } }
        expires: 1m
      - name: arrived
        app: customer
        on: driver_arrived
        alert: { title: Your driver is here }
        data: { ride_id: "{{ride.id}}" }
        expires: 1m

    """

  private func addRide(_ stage: Stage) async throws {
    try await stage.sql(
      """
      select ridepulse.register_device('customer', 'c1', '\(Stage.customerToken)');
      insert into ridepulse.rides (id, state, customer_id) values ('r1', 'requested', 'c1')
      """)
  }

  private func register(
    _ stage: Stage, _ token: String = token, _ activity: String = "a1"
  ) async throws {
    try await stage.sql(
      "select ridepulse.register_live_activity('r1', 'customer', 'c1', '\(token)', '\(activity)')")
  }

  private func state(_ stage: Stage, _ state: String) async throws {
    try await stage.sql("update ridepulse.rides set state = '\(state)' where id = 'r1'")
  }

  private func cards(_ stage: Stage) throws -> [Arrival] {
    try stage.arrivals().filter { $0.header("apns-push-type") == "liveactivity" }
  }

  @Test func `R27: a ride of an hour in a minute`() async throws {
    try await Stage.run { stage in
      // Refreshed after 30 s, with 10 s for a machine that stalls.
      let rules = Self.rules.replacing("stale-after: 2m", with: "stale-after: 40s")
      let server = try Server(try stage.environment(rules: rules))
      try await addRide(stage)
      try await register(stage)
      let phases: [Int: String] = [
        2: "driver_assigned", 5: "driver_en_route", 14: "driver_arrived", 17: "ride_started",
        24: "driver_arrived", 26: "ride_started", 57: "ride_completed",
      ]
      var changed: [(state: String, at: Double)] = []
      for minute in 0..<60 {
        if minute == 51 {
          try await wait(until: "it is refreshed while nothing changes") {
            try self.cards(stage).count { $0.aps("content-state", "eta") == "119" } > 1
          }
        }
        for tick in 0..<4 {
          if tick == 0, let phase = phases[minute] {
            let at = Date().timeIntervalSince1970
            try await state(stage, phase)
            changed.append((phase, at))
            // Otherwise one update may show the next phase alone.
            try await wait(until: "\(phase) is shown") {
              try Self.update(of: phase, after: at, self.cards(stage)) != nil
            }
          } else if minute < 57, !(30..<52).contains(minute) {
            try await stage.sql(
              "update ridepulse.rides set attributes = '{\"eta\": \(minute * 4 + tick)}'")
          }
          try await Task.sleep(for: .milliseconds(125))  // poll: the ride takes its time
        }
      }
      try await stage.settled()
      #expect(server.stop() == 0)
      let cards = try cards(stage)
      #expect(cards.allSatisfy { $0.isAccepted })
      try check(cards, changed)
      #expect(
        try await stage.rows("select ended_reason from ridepulse.live_activities") == [["ended"]])
      // A card ended by the engine stays ended, even if the app registers it again.
      try await register(stage, String(repeating: "cb", count: 40))
      #expect(try await stage.value("select count(*) from ridepulse.events") == "0")
      // The card covered it: no ordinary alert was sent in addition.
      #expect(try stage.arrivals().count == cards.count)
      let held = "select count(*) from ridepulse.deliveries where reason = 'covered by the card'"
      #expect(try await stage.value(held) == "2")
    }
  }

  @Test func `R72: an alert does not wait for a card that APNs refuses`() async throws {
    try await Stage.run { stage in
      let server = try Server(try stage.environment(rules: Self.rules))
      defer { server.stop() }
      try await addRide(stage)
      try await register(stage)
      try await stage.settled()
      try stage.faults(
        """
        [{"match": {"topic": "com.example.customer.push-type.liveactivity"},
          "action": {"answer": {"status": 503, "reason": "ServiceUnavailable"}}}]
        """)
      try await state(stage, "driver_arrived")
      // The card is refused all the while.
      try await stage.until(
        "select status from ridepulse.deliveries where rule = 'arrived'", is: "accepted")
      #expect(
        try await stage.value(
          "select status from ridepulse.deliveries where rule = 'card' and event = 'driver_arrived'"
        )
          == "pending")
      try stage.faults("[]")
      try await stage.settled()
      let accepted = try stage.arrivals().filter {
        $0.isAccepted && $0.aps("alert", "title") != nil
      }
      #expect(accepted.map { $0.header("apns-push-type") } == ["alert"])
    }
  }

  @Test func `R74: the phone without the card is alerted, and both are once it is dismissed`()
    async throws
  {
    try await Stage.run { stage in
      let server = try Server(try stage.environment(rules: Self.rules))
      defer { server.stop() }
      let other = String(repeating: "c2", count: 32)
      try await stage.sql(
        """
        select ridepulse.register_device('customer', 'c1', token, installation_id => installation)
        from (values ('\(Stage.customerToken)', 'with-card'), ('\(other)', 'without'))
          phone (token, installation);
        insert into ridepulse.rides (id, state, customer_id) values ('r1', 'requested', 'c1');
        select ridepulse.register_live_activity('r1', 'customer', 'c1', '\(Self.token)', 'a1',
          installation_id => 'with-card')
        """)
      try await stage.settled()
      try await state(stage, "driver_arrived")
      try await stage.settled()
      func alerted() throws -> [String] {
        try stage.arrivals().filter { $0.header("apns-push-type") == "alert" }.map(\.token).sorted()
      }
      #expect(try alerted() == [other])
      #expect(try cards(stage).last?.aps("alert", "title") == "Your driver is here")
      try await stage.sql(
        """
        update ridepulse.live_activities set ended_at = now(), ended_reason = 'dismissed';
        insert into ridepulse.events (ride_id, event, data) values ('r1', 'card_ended', '{}')
        """)
      try await stage.settled()
      let before = try cards(stage).count
      try await state(stage, "ride_started")
      try await state(stage, "driver_arrived")
      try await stage.settled()
      #expect(try alerted() == [Stage.customerToken, other, other].sorted())
      #expect(try cards(stage).count == before, "a card that is gone receives nothing")
    }
  }

  private static func update(
    of state: String, after time: Double, _ cards: [Arrival]
  ) -> Arrival? {
    cards.first { $0.aps("content-state", "status") == state && $0.receivedAt > time }
  }

  private func check(_ cards: [Arrival], _ changed: [(state: String, at: Double)]) throws {
    var slowest = 0.0
    for phase in changed {
      let shownUpdate = try #require(
        Self.update(of: phase.state, after: phase.at, cards), "\(phase)")
      #expect(shownUpdate.header("apns-priority") == "10")
      slowest = max(slowest, shownUpdate.receivedAt - phase.at)
    }
    let urgent = cards.filter { $0.header("apns-priority") == "10" }.count
    #expect(urgent == changed.count)
    for (one, next) in zip(cards, cards.dropFirst()) {
      #expect(try #require(next.timestamp) > (try #require(one.timestamp)))
      let stale = try #require(one.aps("stale-date").flatMap(Double.init))
      #expect(next.receivedAt < stale, "\(next.record)")
    }
    // They are sent a second apart, and each may be delayed on its way.
    let time = (cards.last?.receivedAt ?? 0) - (cards.first?.receivedAt ?? 0)
    #expect(Double(cards.count - urgent) <= time + 1)
    #expect(cards.last?.aps("event") == "end")
    #expect(cards.last?.aps("content-state", "status") == "ride_completed")
    print(
      "hour: \(cards.count) pushes, \(urgent) urgent, the slowest phase after "
        + "\(Int(slowest * 1000)) ms")
  }

  @Test func `R26: the update that a started card missed is sent when its token arrives`()
    async throws
  {
    try await Stage.run { stage in
      let server = try Server(try stage.environment(rules: Self.rules))
      defer { server.stop() }
      try await addRide(stage)
      try await stage.sql(
        """
        select ridepulse.register_push_to_start(
          'customer', 'c1', '\(Self.startToken)', 'RideAttributes')
        """)
      try await state(stage, "driver_assigned")
      try await stage.settled()
      try await state(stage, "driver_en_route")
      try await stage.settled()
      #expect(try cards(stage).map { $0.aps("event") } == ["start"])
      #expect(try cards(stage).map(\.token) == [Self.startToken])
      try await register(stage)
      try await stage.settled()
      let update = try #require(try cards(stage).last)
      #expect(
        update.token == Self.token && update.aps("content-state", "status") == "driver_en_route")
      #expect(update.header("apns-priority") == "10")
      // A registration without changes emits no event.
      try await register(stage)
      #expect(try await stage.value("select count(*) from ridepulse.events") == "0")
    }
  }

  /// R25: duplicate events, and a kill at a random time.
  @Test(arguments: 0..<4)
  func `R25: one start, or an uncertain one, through kill -9`(turn: Int) async throws {
    try await Stage.run { stage in
      try await addRide(stage)
      try await stage.sql(
        """
        select ridepulse.register_push_to_start(
          'customer', 'c1', '\(Self.startToken)', 'RideAttributes')
        """)
      try stage.faults(#"[{"match": {}, "action": {"delay_ms": 60}}]"#)
      let environment = try stage.environment(rules: Self.rules)
      let servers = [try Server(environment), try Server(environment)]
      let session = stage.session
      async let duplicates: Void = {
        for _ in 0..<25 {
          try await session.script(
            String(repeating: "select ridepulse.emit('driver_assigned', 'r1');", count: 4))
        }
      }()
      var numbers = SeededGenerator(seed: TestSeed.value(UInt64(turn)))
      let delay = Int.random(in: 0...120, using: &numbers)
      try await Task.sleep(for: .milliseconds(delay))  // poll: the kill is to come at random
      servers[turn % 2].kill9()
      try await duplicates
      try await stage.settled(within: .seconds(240))
      let starts = try cards(stage).count
      let uncertain = try await stage.value(
        "select count(*) from ridepulse.deliveries where status = 'uncertain'")
      let accepted = try await stage.value(
        "select count(*) from ridepulse.ledger where card_event = 'start' and status = 'accepted'")
      #expect(starts <= 1, "killed after \(delay) ms")
      #expect((uncertain == "1") != (accepted == "1"), "killed after \(delay) ms")
      if starts == 0 { #expect(uncertain == "1") }
      #expect(servers[1 - turn % 2].stop() == 0)
    }
  }

  @Test func `R24: timestamps rise over two nodes and kill -9`() async throws {
    try await Stage.run { stage in
      let environment = try stage.environment(rules: Self.rules)
      try await addRide(stage)
      try await register(stage)
      var servers = [try Server(environment), try Server(environment)]
      var numbers = SeededGenerator(seed: TestSeed.value(24))
      var turn = 0
      // Changes that a starved machine handles together are one update: go on until there are six.
      while try turn < 60 || (turn < 6000 && cards(stage).count < 6) {
        try await state(stage, turn % 2 == 0 ? "driver_arrived" : "ride_started")
        let pause = Int.random(in: 0...60, using: &numbers)
        try await Task.sleep(for: .milliseconds(pause))  // poll: none, this is the pace
        if turn < 60, turn % 20 == 10 {
          servers[turn / 20 % 2].kill9()
          servers[turn / 20 % 2] = try Server(environment)
        }
        turn += 1
      }
      try await state(stage, "ride_completed")
      try await stage.settled(within: .seconds(240))
      #expect(servers.map { $0.stop() } == [0, 0])
      let stamps = try cards(stage).compactMap(\.timestamp)
      #expect(stamps.count > 5)
      #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 }, "\(stamps)")
      #expect(try cards(stage).last?.aps("event") == "end")
    }
  }

  @Test func `A 410 for an activity ends the card but not the phone, and the alert is sent`()
    async throws
  {
    try await Stage.run { stage in
      let server = try Server(try stage.environment(rules: Self.rules))
      defer { server.stop() }
      try await addRide(stage)
      try await register(stage)
      try await stage.settled()
      let now = Int64(Date().timeIntervalSince1970 * 1000) + 1000
      try stage.tokens(#"{"tokens": [{"token": "\#(Self.token)", "unregistered_since": \#(now)}]}"#)
      try await state(stage, "driver_arrived")
      try await stage.settled()
      #expect(
        try await stage.rows("select ended_reason from ridepulse.live_activities")
          == [["Unregistered"]])
      #expect(try await stage.rows("select disabled_at from ridepulse.devices") == [[nil]])
      let alerts = try stage.arrivals().filter { $0.header("apns-push-type") == "alert" }
      #expect(alerts.map(\.token) == [Stage.customerToken])
      // The next registration makes it active again.
      try await register(stage, String(repeating: "cb", count: 40))
      try await stage.settled()
      #expect(try cards(stage).last?.token == String(repeating: "cb", count: 40))
    }
  }
}
