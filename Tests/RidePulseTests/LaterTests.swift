import Base
import Foundation
import PostgresStore
import RideCore
import Testing
import TestSupport

/// Rules that act later than their event, with real processes.
@Suite("Later: emit, escalate, at", .timeLimit(.minutes(60))) struct LaterTests {
  private static let rules = """
    events: [ping, pong, offer, offer_unseen, driver_lost]
    rules:
      - { name: relay, app: customer, on: ping, emit: pong }
      - name: pong
        app: customer
        on: pong
        alert: { title: "{{event.data.n}}" }
        data: { event: "{{event.name}}" }
        expires: 5m
      - name: offer
        app: driver
        on: offer
        while: [requested]
        alert: { title: New ride, mutable-content: true }
        expires: 1h
        escalate: { unless-seen-within: 1s, emit: offer_unseen }
      - name: unseen
        app: driver
        on: offer_unseen
        alert: { title: "{{event.data.driver_id}} {{event.data.fare}}" }
        data: { event: "{{event.name}}" }
        expires: 5m
      - name: check-in
        app: customer
        at: requested + 10s
        while: [requested]
        alert: { title: Still looking }
        data: { event: check-in }
        expires: 5m
      - { name: lost, app: driver, at: contact + 2m, while: [requested], emit: driver_lost }
      - name: driver-lost
        app: customer
        on: driver_lost
        alert: { title: Connection lost }
        data: { event: "{{event.name}}" }
        expires: 5m

    """

  @Test func `kill -9 at any time: each emitted event is emitted exactly once`() async throws {
    let rides = 30
    try await Stage.run { stage in
      let environment = try stage.environment(rules: Self.rules)
      try await stage.sql(
        """
        insert into ridepulse.rides (id, state, customer_id)
        select 'ride-' || n, 'driver_arrived', 'customer-' || n from generate_series(1, \(rides)) n;
        select ridepulse.register_device('customer', 'customer-' || n, md5(n::text) || md5('x' || n))
        from generate_series(1, \(rides)) n;
        create table public.emitted (id bigint, ride_id text, event text, data jsonb);
        create function public.note() returns trigger language plpgsql security definer as $$
        begin
          insert into public.emitted values (new.id, new.ride_id, new.event, new.data); return null;
        end $$;
        create trigger note after insert on ridepulse.events for each row
        when (new.event = 'pong') execute function public.note()
        """)
      var random = SeededGenerator(seed: TestSeed.value(11))
      for round in 1...5 {
        let server = try Server(environment)
        try await stage.sql(
          """
          select ridepulse.emit('ping', 'ride-' || n, '{"n": "\(round)"}')
          from generate_series(1, \(rides)) n
          """)
        let delay = Int.random(in: 0...80, using: &random)
        try await Task.sleep(for: .milliseconds(delay))  // poll: the kill is to come at random
        server.kill9()
      }
      let server = try Server(environment)
      defer { server.stop() }
      try await stage.settled()
      // A row that was inserted and rolled back left no trace here, either.
      let counts = try await stage.rows(
        """
        select count(*), count(distinct (ride_id, data ->> 'n')) from public.emitted
        """)
      #expect(counts == [["\(rides * 5)", "\(rides * 5)"]])
      #expect(
        try await stage.rows(
          """
          select rule, status, reason, reason_code, count(*) from ridepulse.ledger
          where rule = 'relay' group by 1, 2, 3, 4
          """) == [["relay", "accepted", "emitted pong", "emitted", "\(rides * 5)"]])
      let told = try await stage.value(
        "select count(distinct event_id) from ridepulse.ledger where rule = 'pong'")
      #expect(told == "\(rides * 5)")
      let shown = try Command.ridepulse(["explain", "ride-1"], environment)
      #expect(shown.output.contains("\n  relay: emitted pong\n"), "\(shown.output)")
    }
  }

  /// Without one, no offer to the driver is escalated.
  private static let earlierReceipt =
    "insert into ridepulse.receipts (apns_id, app, owner_id) values (gen_random_uuid(), 'driver', 'd1')"

  private func toDriver(_ stage: Stage) throws -> [Arrival] {
    try stage.arrivals().filter { $0.token == Stage.driverToken }
  }

  @Test func `R90: an offer that nobody sees escalates once; one that is seen does not`()
    async throws
  {
    try await Stage.run { stage in
      // On a busy machine the app's answer takes seconds.
      let rules = Self.rules.replacing("unless-seen-within: 1s", with: "unless-seen-within: 30s")
      let environment = try stage.environment(rules: rules)
      let (server, api) = try await APIClient.serve(environment)
      defer { server.stop() }
      try await stage.addRide()
      try await stage.sql(Self.earlierReceipt)
      try await stage.settled()
      func offer() async throws -> String {
        let count = try toDriver(stage).count
        try await stage.sql("select ridepulse.emit('offer', 'r1', '{\"fare\": 12}')")
        try await wait(until: "the offer arrives") { try toDriver(stage).count > count }
        return try #require(try toDriver(stage).dropFirst(count).first?.text("payload", "apns_id"))
      }
      _ = try await offer()
      try await stage.settled()
      let unseen = try stage.arrivals().filter { $0.event == "offer_unseen" }
      #expect(unseen.map { $0.aps("alert", "title") } == ["d1 12"])
      let seen = try await offer()
      let answer = try api.post("/v1/seen", #"{"apns_id": "\#(seen)"}"#)
      #expect(answer.status == 204 && answer.text.isEmpty, "\(answer)")
      // The first report counts, and an unknown ID is no error.
      #expect(try api.post("/v1/seen", #"{"apns_id": "\#(seen.uppercased())"}"#).status == 204)
      #expect(
        try api.post("/v1/seen", #"{"apns_id": "00000000-0000-8000-8000-000000000000"}"#).status
          == 204)
      #expect(try api.post("/v1/seen", #"{"apns_id": "offer"}"#).status == 422)
      try await stage.settled()
      #expect(try stage.arrivals().count { $0.event == "offer_unseen" } == 1)
      #expect(
        try await stage.rows(
          """
          select reason_code, count(*) from ridepulse.ledger
          where rule = 'offer' and device_id is null group by 1 order by 1
          """) == [["emitted", "1"], ["seen", "1"]])
      #expect(
        try await stage.rows(
          """
          select apns_id, seen_at > created_at - interval '1 minute' from ridepulse.deliveries
          where seen_at is not null and apns_id is not null
          """) == [[seen, "t"]])
      let shown = try Command.ridepulse(["explain", "r1"], environment)
      #expect(shown.output.contains(", seen after "), "\(shown.output)")
      #expect(shown.output.contains("  offer: emitted offer_unseen: not seen within 30s"))
    }
  }

  @Test func `U14: the pending row of an escalation has no apns_id; that of the push is seen`()
    async throws
  {
    try await Stage.run { stage in
      let rules = Self.rules.replacing("unless-seen-within: 1s", with: "unless-seen-within: 1m")
      let environment = try stage.environment(rules: rules)
      let (server, api) = try await APIClient.serve(environment)
      defer { server.stop() }
      try await stage.addRide()
      try await stage.sql("select ridepulse.emit('offer', 'r1')")
      try await stage.until(
        "select string_agg(status, ' ' order by status) from ridepulse.deliveries where rule = 'offer'",
        is: "accepted pending")
      let rows = try await stage.rows(
        """
        select kind, status, apns_id, push_type, reason like 'waits for a receipt: emits offer_unseen unless seen by %'
        from ridepulse.deliveries where rule = 'offer' order by 1
        """)
      let push = try #require(rows.last.flatMap { $0[2] })
      #expect(
        rows == [
          ["escalation", "pending", nil, nil, "t"], ["push", "accepted", push, "alert", nil],
        ])
      let explained = try api.get("/v1/rides/r1/explain")
      #expect(explained.text.contains(push), "\(explained.text)")
      let escalation = try #require(
        try await stage.value(
          "select apns_id from ridepulse.ledger where reason_code = 'waiting_for_receipt'"))
      #expect(!explained.text.contains(escalation), "\(explained.text)")
      #expect(try api.post("/v1/seen", #"{"apns_id": "\#(push)"}"#).status == 204)
      #expect(
        try await stage.value(
          "select seen_at is not null from ridepulse.deliveries where apns_id = '\(push)'") == "t")
    }
  }

  @Test func `R90: kill -9 between the offer and its escalation: one escalation`() async throws {
    try await Stage.run { stage in
      let environment = try stage.environment(rules: Self.rules)
      try await stage.addRide()
      try await stage.sql(Self.earlierReceipt)
      for _ in 0..<4 {
        let server = try Server(environment)
        let count = try stage.arrivals().count
        try await stage.sql("select ridepulse.emit('offer', 'r1', '{\"fare\": 12}')")
        try await wait(until: "the offer arrives") { try stage.arrivals().count > count }
        server.kill9()
        // The effect of 20 seconds.
        try await stage.sql(
          "update ridepulse.agenda set leased_until = now() where node is not null")
        let next = try Server(environment)
        try await stage.settled()
        #expect(next.stop() == 0)
      }
      #expect(
        try await stage.value(
          "select count(distinct event_id) from ridepulse.ledger where rule = 'unseen'") == "4")
      #expect(
        try await stage.value("select count(*) from ridepulse.ledger where reason_code = 'emitted'")
          == "4")
    }
  }

  @Test func `R87: a push that waits survives a restart, and a ride that left receives none`()
    async throws
  {
    try await Stage.run { stage in
      // It waits for long enough to be seen waiting.
      let rules = Self.rules.replacing("requested + 10s", with: "requested + 30s")
      let environment = try stage.environment(rules: rules)
      let server = try Server(environment)
      try await stage.addRide()
      try await stage.until(
        "select reason_code from ridepulse.ledger where rule = 'check-in'", is: "waiting")
      server.kill9()
      try await stage.sql("update ridepulse.agenda set leased_until = now() where node is not null")
      let next = try Server(environment)
      try await stage.settled()
      #expect(
        try await stage.rows("select status from ridepulse.ledger where rule = 'check-in'")
          == [["accepted"]])
      #expect(try stage.arrivals().count { $0.event == "check-in" } == 1)
      try await stage.sql(
        """
        update ridepulse.rides set state = 'driver_assigned';
        update ridepulse.rides set state = 'requested';
        """)
      try await stage.until(
        "select count(*) from ridepulse.ledger where reason_code = 'waiting'", is: "1")
      try await stage.sql("update ridepulse.rides set state = 'driver_assigned'")
      try await stage.settled()
      #expect(
        try await stage.value(
          "select count(*) from ridepulse.ledger where rule = 'check-in' and reason_code = 'left_states'"
        )
          == "1")
      #expect(next.stop() == 0)
    }
  }

  @Test func `R88: a driver without contact is reported once, until the next contact`() async throws
  {
    try await Stage.run { stage in
      let environment = try stage.environment(rules: Self.rules)
      try await stage.addRide()
      let lost =
        "select count(*) from ridepulse.ledger where reason_code = 'emitted' and rule = 'lost'"
      /// Moves the entry into the states, and what is planned, into the past.
      func pass(minutes: Int) async throws {
        try await stage.sql(
          """
          update ridepulse.rides set updated_at = updated_at - interval '\(minutes) minutes';
          update ridepulse.contacts set contacted_at = contacted_at - interval '\(minutes) minutes';
          update ridepulse.agenda set memo = null, due_at = now();
          delete from ridepulse.events
          """)
      }
      try await stage.sql("select ridepulse.contact('driver', 'd1')")
      try await pass(minutes: 1)
      let server = try Server(environment)
      defer { server.stop() }
      try await stage.settled()
      try await stage.sql("select ridepulse.emit('ride_updated', 'r1')")
      try await stage.settled()
      #expect(try await stage.value(lost) == "0")
      try await pass(minutes: 2)
      try await stage.until(lost, is: "1")
      try await stage.settled()
      #expect(try stage.arrivals().count { $0.event == "driver_lost" } == 1)
      // No contact: handled again, and not reported again.
      try await stage.sql("select ridepulse.emit('ride_updated', 'r1')")
      try await stage.settled()
      #expect(try await stage.value(lost) == "1")
    }
  }
}
