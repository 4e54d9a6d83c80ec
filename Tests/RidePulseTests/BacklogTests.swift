import Foundation
import PostgresStore
import Testing

/// Events that waited while no node ran: one claim finds all of them.
@Suite("A backlog") struct BacklogTests {
  private static func rule(_ event: String, _ more: String = "", app: String = "customer") -> String
  {
    """
      - name: \(app)-\(event.replacing("_", with: "-"))
        app: \(app)
        on: \(event)
        alert: { title: "\(event) {{ride.attributes.driver_name | default: 'nobody'}}" }
        data: { ride_id: "{{ride.id}}", event: "{{event.name}}" }
        expires: 10m
        \(more)

    """
  }

  private static let states = """
    states:
      active: [requested, driver_assigned, driver_arrived, ride_started]
      final: [ride_completed, cancelled_by_driver]
    events: [remark]
    rules:

    """

  private static let events = ["driver_assigned", "driver_arrived", "ride_started"]

  private func arrivals(_ stage: Stage) throws -> [String: [String]] {
    Dictionary(grouping: try stage.arrivals().filter(\.isAccepted), by: \.token)
      .mapValues { $0.sorted { $0.receivedAt < $1.receivedAt }.map { $0.event ?? "" } }
  }

  /// The later event is the more urgent one; it must not be sent first for that reason.
  @Test func `R70: a phone's pushes are sent in order, whatever their validity`() async throws {
    try await Stage.run { stage in
      let environment = try stage.environment(
        rules: Self.states
          + zip(Self.events, ["15m", "5m", "2m"]).map { event, expires in
            Self.rule(event).replacing("10m", with: expires)
          }.joined())
      try await stage.sql(
        """
        select ridepulse.register_device('customer', 'c' || n, md5(n::text) || md5(n::text))
        from generate_series(1, 100) n;
        insert into ridepulse.rides (id, state, customer_id)
        select 'r' || n, 'requested', 'c' || n from generate_series(1, 100) n;
        update ridepulse.rides set state = 'driver_assigned';
        update ridepulse.rides set state = 'driver_arrived';
        update ridepulse.rides set state = 'ride_started'
        """)
      let server = try Server(environment)
      try await stage.settled()
      let arrivals = try arrivals(stage)
      #expect(arrivals.count == 100)
      #expect(arrivals.values.allSatisfy { $0 == Self.events }, "\(Set(arrivals.values))")
      server.stop()
    }
  }

  @Test func `R70: a push that a later one replaces is superseded and not sent`() async throws {
    try await Stage.run { stage in
      let environment = try stage.environment(
        rules: Self.states
          + Self.events.map { Self.rule($0, #"collapse: "ride-{{ride.id}}""#) }.joined())
      try await stage.addRide()
      for state in Self.events {
        try await stage.sql("update ridepulse.rides set state = '\(state)'")
      }
      let server = try Server(environment)
      try await stage.settled()
      #expect(try arrivals(stage)[Stage.customerToken] == ["ride_started"])
      let rows = try await stage.rows(
        "select event, status, reason from ridepulse.deliveries order by event")
      #expect(
        rows == [
          ["driver_arrived", "superseded", "superseded by ride_started"],
          ["driver_assigned", "superseded", "superseded by ride_started"],
          ["ride_started", "accepted", nil],
        ])
      server.stop()
    }
  }

  /// What rides go through while no node runs; ride n stops after step n.
  private static let steps = [
    "state = 'requested'", "emit ride_offer", "state = 'driver_assigned'",
    "state = 'driver_en_route'", "emit eta_changed", "emit driver_nearby",
    "state = 'driver_arrived'", "emit waiting_fee_started", "state = 'ride_started'",
    "state = 'ride_completed'",
  ]

  /// The only pushes of the shipped rules that are true after a minute, by ride and app.
  private static let truths = [
    ["3", "customer", "customer-driver-assigned"], ["3", "driver", "driver-ride-assigned"],
    ["4", "customer", "customer-driver-en-route"], ["4", "driver", "driver-ride-assigned"],
    ["5", "customer", "customer-eta-changed"], ["5", "driver", "driver-ride-assigned"],
    ["6", "customer", "customer-driver-nearby"], ["6", "driver", "driver-ride-assigned"],
    ["7", "customer", "customer-driver-arrived"],
    ["8", "customer", "customer-waiting-fee"], ["8", "driver", "driver-waiting-paid"],
    ["10", "customer", "customer-ride-completed"], ["10", "driver", "driver-ride-completed"],
  ]

  @Test func `R70, R71: after a minute without a node, each phone receives only what is true`()
    async throws
  {
    try await Stage.run { stage in
      let each = "from generate_series(1, \(Self.steps.count)) n"
      try await stage.sql(
        """
        select ridepulse.register_device(app, left(app, 1) || n, md5(app || n) || md5(app || n))
        \(each), unnest(array['customer', 'driver']) app;
        insert into ridepulse.rides (id, state, customer_id, driver_id, attributes)
        select n::text, 'scheduled', 'c' || n, 'd' || n, '{"eta_epoch": 1795248300}' \(each)
        """)
      for (index, step) in Self.steps.enumerated() {
        let event = step.hasPrefix("emit ") ? step.dropFirst(5) : nil
        try await stage.sql(
          event.map {
            "select ridepulse.emit('\($0)', n::text) \(each) where n > \(index)"
          } ?? "update ridepulse.rides set \(step) where id::int > \(index)")
      }
      try await stage.sql("update ridepulse.events set created_at = created_at - interval '1 min'")
      let server = try Server(stage.environment)
      try await stage.settled()
      server.stop()
      let accepted = try await stage.rows(
        """
        select ride_id, app, rule from ridepulse.deliveries where status = 'accepted'
        order by ride_id::int, app, rule
        """)
      #expect(accepted == Self.truths)
      #expect(try stage.arrivals().count == Self.truths.count)
      let others = try await stage.rows(
        """
        select status, reason_code, count(*) from ridepulse.ledger where status <> 'accepted'
        group by 1, 2 order by 1, 2
        """)
      #expect(
        others == [
          // An offer and its escalation.
          ["expired", "out_of_time", "2"],
          // The rating, two hours after the ride.
          ["pending", "waiting", "1"], ["superseded", "superseded", "7"],
          // The arrival with a PIN, of rides without one, and the driver of a booked ride.
          ["suppressed", "condition_false", "3"], ["suppressed", "left_states", "53"],
          ["suppressed", "no_start_token", "8"],
        ])
    }
  }

  @Test func `The former driver receives past events and none of the new driver's`() async throws {
    try await Stage.run { stage in
      let environment = try stage.environment(
        rules: Self.states
          + ["driver_assigned", "cancelled_by_driver"].map { Self.rule($0, app: "driver") }.joined()
      )
      try await stage.sql(
        """
        select ridepulse.register_device('driver', 'd1', repeat('d1', 32));
        select ridepulse.register_device('driver', 'd2', repeat('d2', 32));
        insert into ridepulse.rides (id, state) values ('r1', 'requested')
        """)
      for change in [
        #"state = 'driver_assigned', driver_id = 'd1', attributes = '{"driver_name": "Ana"}'"#,
        "state = 'cancelled_by_driver'",
        #"state = 'driver_assigned', driver_id = 'd2', attributes = '{"driver_name": "Bea"}'"#,
      ] {
        try await stage.sql("update ridepulse.rides set \(change)")
      }
      let server = try Server(environment)
      try await stage.settled()
      let titles = Dictionary(grouping: try stage.arrivals(), by: \.token).mapValues {
        $0.map { $0.text("payload", "aps", "alert", "title") ?? "" }
      }
      #expect(
        titles == [
          String(repeating: "d1", count: 32): ["driver_assigned Ana", "cancelled_by_driver Ana"],
          String(repeating: "d2", count: 32): ["driver_assigned Bea"],
        ])
      server.stop()
    }
  }

  @Test func `One ride with 10,000 phones notifies each once`() async throws {
    try await Stage.run { stage in
      let environment = try stage.environment(rules: Self.states + Self.rule("driver_arrived"))
      // In parts: on a busy machine one statement would take longer than a session waits.
      for first in stride(from: 1, to: 10_000, by: 1000) {
        try await stage.sql(
          """
          select ridepulse.register_device('customer', 'c1', md5(n::text) || md5(n::text))
          from generate_series(\(first), \(first + 999)) n
          """)
      }
      try await stage.sql(
        "insert into ridepulse.rides (id, state, customer_id) values ('r1', 'driver_arrived', 'c1')"
      )
      let server = try Server(environment)
      try await stage.settled(within: .seconds(240))
      let arrivals = Dictionary(grouping: try stage.arrivals(), by: \.token)
      #expect(arrivals.count == 10_000)
      // On a very slow machine a lease may expire and a push be sent again, under the same ID.
      #expect(arrivals.values.allSatisfy { Set($0.map(\.id)).count == 1 })
      let accepted = "select count(*) from ridepulse.ledger where status = 'accepted'"
      #expect(try await stage.value(accepted) == "10000")
      server.stop()
    }
  }

  @Test func `20,000 events with one collapse ID send a phone few pushes`()
    async throws
  {
    try await Stage.run { stage in
      let environment = try stage.environment(
        rules: Self.states + Self.rule("remark", #"collapse: "ride-{{ride.id}}""#))
      try await stage.addRide()
      try await stage.sql(
        """
        select ridepulse.emit('remark', 'r1', jsonb_build_object('n', n))
        from generate_series(1, 20000) n
        """)
      let server = try Server(environment)
      try await stage.settled(within: .seconds(240))
      let arrivals = try stage.arrivals()
      // At most one push for each claim.
      #expect((1...21).contains(arrivals.count), "\(arrivals.count)")
      let verdicts = try await stage.rows(
        "select status, count(*) from ridepulse.ledger group by 1 order by 1")
      #expect(
        verdicts == [
          ["accepted", "\(arrivals.count)"], ["superseded", "\(20000 - arrivals.count)"],
        ]
      )
      server.stop()
    }
  }

  @Test func `An event of 150 KB for 2,000 phones is stored once while APNs refuses`() async throws
  {
    try await Stage.run { stage in
      let environment = try stage.environment(rules: Self.states + Self.rule("remark"))
      try stage.faults(
        #"[{"match": {}, "action": {"answer": {"status": 503, "reason": "Shutdown"}}}]"#)
      try await stage.sql(
        """
        select ridepulse.register_device('customer', 'c1', md5(n::text) || md5(n::text))
        from generate_series(1, 2000) n;
        insert into ridepulse.rides (id, state, customer_id) values ('r1', 'requested', 'c1');
        select ridepulse.emit('remark', 'r1', jsonb_build_object('text', repeat('x', 150000)))
        """)
      let server = try Server(environment)
      let pending = "select count(*) from ridepulse.ledger where status = 'pending'"
      try await stage.until(pending, is: "2000", within: .seconds(240))
      let size = "select max(octet_length(memo::text)) < 3000000 from ridepulse.agenda"
      #expect(try await stage.value(size) == "t")
      try stage.faults("[]")
      try await stage.settled(within: .seconds(240))
      #expect(try arrivals(stage).count == 2000)
      server.stop()
    }
  }

  @Test func `A legacy sender's frames to one phone are sent in order`() async throws {
    try await Stage.run { stage in
      try await stage.sql(
        """
        insert into ridepulse.devices (app, owner_id, token)
        values ('customer', 'x', repeat('c1', 32))
        """)
      // The events as the gateway commits them; each later push expires sooner.
      for n in 1...4 {
        let payload = #"{\"aps\":{\"alert\":\"\#(n)\"},\"event\":\"\#(n)\"}"#
        let expiration = Int(Date().timeIntervalSince1970) + 600 - n * 100
        try await stage.sql(
          """
          insert into ridepulse.events (ride_id, event, data)
          values (ridepulse.legacy_ride('customer', repeat('c1', 32)), 'legacy_push',
            '{"app": "customer", "token": "\(Stage.customerToken)", "priority": 10,
              "expiration": \(expiration), "payload": "\(payload)"}')
          """)
      }
      let server = try Server(stage.environment)
      try await stage.settled()
      #expect(try arrivals(stage)[Stage.customerToken] == ["1", "2", "3", "4"])
      server.stop()
    }
  }

  @Test func `IDs that are equivalent in Unicode stay two rides of two people`() async throws {
    try await Stage.run { stage in
      let environment = try stage.environment(rules: Self.states + Self.rule("driver_arrived"))
      // The same letter as one code point and as two.
      let ids = [#"U&'caf\00e9'"#, #"U&'cafe\0301'"#]
      for (n, id) in ids.enumerated() {
        try await stage.sql(
          """
          select ridepulse.register_device('customer', \(id), repeat('c\(n)', 32));
          insert into ridepulse.rides (id, state, customer_id, attributes)
          values (\(id), 'driver_arrived', \(id), '{"driver_name": "\(n)"}')
          """)
      }
      let server = try Server(environment)
      try await stage.settled()
      let titles = Dictionary(grouping: try stage.arrivals(), by: \.token).mapValues {
        $0.map { $0.text("payload", "aps", "alert", "title") ?? "" }
      }
      #expect(
        titles == [
          String(repeating: "c0", count: 32): ["driver_arrived 0"],
          String(repeating: "c1", count: 32): ["driver_arrived 1"],
        ])
      server.stop()
    }
  }
}
