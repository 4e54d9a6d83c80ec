import Base
import Foundation
import LocalStack
import RideCore
import Testing

@Suite("Schedule rules") struct TimeTests {
  private static let heartbeat = """
    rules:
      - name: beat
        app: driver
        every: 1s
        while: [requested]
        background: {}
        data: { ride_id: "{{ride.id}}" }
        expires: 1m
        collapse: "beat-{{ride.id}}"

    """

  private static let arrival = """
    rules:
      - { name: arrival, app: driver, on: ride_started, alert: { title: Started }, expires: 1h }

    """

  @Test func `A ride without a time has no reminder, and one with an extreme time blocks nothing`()
    async throws
  {
    try await Stage.run { stage in
      let server = try Server(
        try stage.environment(
          rules: """
            rules:
              - name: reminder
                app: driver
                at: pickup_at - 15m
                while: [requested]
                alert: { title: "Pickup at {{ride.pickup_at}}" }
                expires: 15m
              - name: thanks
                app: driver
                on: requested
                alert: { title: "Pickup at {{ride.pickup_at | default: 'any time'}}" }
                expires: 15m

            """))
      try await stage.addRide()
      try await stage.sql(
        """
        insert into ridepulse.rides (id, state, driver_id, pickup_at)
        values ('r2', 'requested', 'd1', 'infinity'), ('r3', 'requested', 'd1', '4000-01-01 BC')
        """)
      try await stage.settled()
      #expect(server.stop() == 0)
      let rows = try await stage.rows(
        "select ride_id, rule, status from ridepulse.deliveries order by ride_id, rule")
      #expect(
        rows == [
          ["r1", "thanks", "accepted"], ["r2", "thanks", "accepted"],
          ["r3", "reminder", "suppressed"], ["r3", "thanks", "accepted"],
        ])
      let titles = try stage.arrivals().map { $0.text("payload", "aps", "alert", "title") }
      #expect(titles.contains("Pickup at any time"))
    }
  }

  @Test func `Heartbeats continue through kill -9, and end with the state`() async throws {
    try await Stage.run { stage in
      let environment = try stage.environment(rules: Self.heartbeat)
      try await stage.addRide()
      let first = try Server(environment)
      try await stage.until(
        "select count(*) >= 2 from ridepulse.deliveries where status = 'accepted'", is: "t")
      first.kill9()
      let second = try Server(environment)
      // Other nodes can claim a dead node's ride after its lease.
      let before = try await stage.value("select count(*) from ridepulse.deliveries") ?? "0"
      try await stage.until(
        "select count(*) >= \(before) + 2 from ridepulse.deliveries where status = 'accepted'",
        is: "t")
      try await stage.sql("update ridepulse.rides set state = 'ride_started' where id = 'r1'")
      try await stage.settled()
      let beats = try stage.arrivals()
      // Two periods without a heartbeat.
      try await Task.sleep(for: .milliseconds(2500))  // poll: none
      #expect(try stage.arrivals().count == beats.count)
      #expect(second.stop() == 0)
      for keepalive in beats {
        #expect(keepalive.header("apns-push-type") == "background")
        #expect(keepalive.header("apns-priority") == "5")
        #expect(
          keepalive.record.value(at: ["payload", "aps"])
            == .object(["content-available": .integer(1)]))
      }
      // One heartbeat per period: a repeat after the crash has the same ID.
      let slots = try await stage.rows(
        "select occurred_at from ridepulse.ledger where attempts > 0")
      #expect(Set(slots).count == slots.count)
      #expect(Set(beats.map(\.id)).count == slots.count)
      let tally = try await stage.rows(
        "select sum(fired) = \(slots.count), sum(remainder) from ridepulse.slots")
      #expect(tally == [["t", "0"]])
      #expect(!second.log.contains("do not add up"))
    }
  }

  @Test func `A reminder is set by the row and moved by it`() async throws {
    try await Stage.run { stage in
      let environment = try stage.environment(
        rules:
          """
          rules:
            - name: soon
              app: customer
              at: pickup_at - 1h
              while: [requested]
              alert: { title: "{{ride.pickup_at | time}}" }
              expires: 15m

          """)
      try await stage.addRide()
      let server = try Server(environment)
      try await stage.sql(
        "update ridepulse.rides set pickup_at = now() + interval '2 h' where id = 'r1'")
      try await stage.settled()
      #expect(
        try await stage.value(
          "select due_at = (select pickup_at - interval '1 h' from ridepulse.rides) from ridepulse.agenda"
        )
          == "t")
      try await stage.sql(
        "update ridepulse.rides set pickup_at = now() + interval '1 h 1 s' where id = 'r1'")
      try await stage.until(
        "select count(*) from ridepulse.deliveries where status = 'accepted'", is: "1")
      #expect(
        try await stage.value(
          "select l.occurred_at = r.pickup_at - interval '1 h' and l.created_at >= l.occurred_at from ridepulse.ledger l, ridepulse.rides r"
        )
          == "t")
      #expect(try await stage.value("select event from ridepulse.deliveries") == "at")
      server.stop()
    }
  }

  @Test func `New rule files apply to existing rides`() async throws {
    try await Stage.run { stage in
      try await stage.addRide()
      let before = try Server(try stage.environment(rules: Self.arrival))
      try await stage.settled()
      before.stop()
      #expect(try await stage.value("select due_at from ridepulse.agenda") == nil)
      let server = try Server(try stage.environment(rules: Self.heartbeat))
      try await stage.until(
        "select count(*) >= 1 from ridepulse.deliveries where status = 'accepted'", is: "t")
      server.stop()
    }
  }

  @Test func `A time out of range blocks no other ride`() async throws {
    try await Stage.run { stage in
      let environment = try stage.environment(rules: Self.heartbeat)
      try await stage.sql(
        """
        insert into ridepulse.rides (id, state, pickup_at, updated_at, time_zone, attributes) values
        ('r0', 'requested', 'infinity', '-infinity', null, null),
        ('r2', 'requested', '294000-01-01', '4000-01-01 BC', 'Nowhere', '[1]')
        """)
      try await stage.addRide()
      let server = try Server(environment)
      try await stage.until(
        "select count(*) >= 1 from ridepulse.deliveries where ride_id = 'r1' and status = 'accepted'",
        is: "t")
      server.stop()
    }
  }

  @Test func `R48: five nodes and a kill -9: each slot once, none early`() async throws {
    try await Stage.run { stage in
      let environment = try stage.environment(rules: Self.heartbeat)
      try await stage.sql(
        """
        select ridepulse.register_device('driver', 'd1', '\(Stage.driverToken)');
        insert into ridepulse.rides (id, state, driver_id)
        select 'r' || n, 'requested', 'd1' from generate_series(1, 40) n
        """)
      // The clocks of the nodes do not matter: no decision reads them.
      let nodes = try (0..<5).map { _ in try Server(environment) }
      let accepted = "from ridepulse.deliveries where status = 'accepted'"
      try await stage.until("select count(*) >= 100 \(accepted)", is: "t")
      nodes[4].kill9()
      try await stage.until("select count(*) >= 400 \(accepted)", is: "t")
      for node in nodes.prefix(4) { #expect(node.stop() == 0, "\(node.log)") }
      let wrong = try await stage.rows(
        """
        select count(*) filter (where created_at < occurred_at),
          count(*) filter (where gap is not null and extract(epoch from gap) * 1000000 % 1000000 <> 0)
        from (select *, occurred_at - lag(occurred_at) over (partition by ride_id order by occurred_at)
                as gap from ridepulse.ledger where attempts > 0) beats
        """)
      #expect(wrong == [["0", "0"]])
      let accounts = try await stage.value("select sum(remainder) from ridepulse.slots")
      #expect(accounts == "0")
    }
  }
}
