import PostgresStore
import Testing
import TestSupport

@Suite("A ride's change reaches the right phone") struct DeliveryTests {
  @Test func `With topic, type, priority, expiration, stable ID, and a row in deliveries`()
    async throws
  {
    try await Stage.run { stage in
      let server = try Server(stage.environment)
      defer { server.stop() }
      try await stage.addRide()
      try await stage.sql(
        """
        select ridepulse.register_device('customer', 'other', repeat('ee', 32));
        select ridepulse.register_device('customer', 'c1', repeat('c2', 32));
        update ridepulse.rides set state = 'driver_arrived' where id = 'r1'
        """)
      try await stage.settled()
      let arrivals = try stage.arrivals()
      #expect(
        Set(arrivals.map(\.token)) == [Stage.customerToken, String(repeating: "c2", count: 32)])
      for arrival in arrivals {
        #expect(arrival.isAccepted)
        #expect(arrival.header("apns-topic") == "com.example.customer")
        #expect(arrival.header("apns-push-type") == "alert")
        #expect(arrival.header("apns-priority") == "10")
        #expect(arrival.header("apns-collapse-id") == "ride-r1")
        #expect(arrival.text("payload", "aps", "alert", "title") == "Ana is here")
        let due = try await stage.value(
          """
          select floor(extract(epoch from occurred_at + interval '10 minutes'))::bigint
          from ridepulse.ledger where apns_id = '\(arrival.id)'
          """)
        #expect(arrival.header("apns-expiration") == due)
      }
      let rows = try await stage.rows(
        """
        select ride_id, event, rule, app, push_type, status, reason, attempts, apns_id, collapse_id,
          token_suffix, finished_at >= created_at from ridepulse.deliveries
        where token_suffix = 'c1c1c1'
        """)
      let id = arrivals.first { $0.token == Stage.customerToken }?.id
      #expect(
        rows == [
          [
            "r1", "driver_arrived", "customer-driver-arrived", "customer", "alert", "accepted",
            nil, "1", id, "ride-r1", "c1c1c1", "t",
          ]
        ])
    }
  }

  @Test func `An event's data may name another driver, who alone receives the push`() async throws {
    try await Stage.run { stage in
      let server = try Server(stage.environment)
      defer { server.stop() }
      try await stage.addRide()
      try await stage.sql(
        """
        select ridepulse.register_device('driver', 'd9', repeat('d9', 32));
        insert into ridepulse.receipts (apns_id, app, owner_id) values (gen_random_uuid(), 'driver', 'd9');
        select ridepulse.emit('ride_offer', 'r1', '{"driver_id": "d9", "seconds": 12}')
        """)
      try await stage.settled()
      let arrivals = try stage.arrivals()
      // The offer, and its second ring, because nobody reported it as seen.
      #expect(arrivals.map(\.event) == ["ride_offer", "offer_unseen"])
      #expect(Set(arrivals.map(\.token)) == [String(repeating: "d9", count: 32)])
      #expect(arrivals.first?.header("apns-expiration") == "0")
      #expect(arrivals.first?.header("apns-topic") == "com.example.driver")
      #expect(arrivals.first?.text("payload", "seconds") == "12")
    }
  }

  @Test func `A transaction sends nothing if rolled back, and its pushes if committed`()
    async throws
  {
    try await Stage.run { stage in
      let server = try Server(stage.environment)
      defer { server.stop() }
      try await stage.addRide()
      let change = "update ridepulse.rides set state = 'driver_arrived' where id = 'r1'"
      try await stage.sql("begin; \(change); rollback")
      try await stage.sql("select ridepulse.emit('driver_nearby', 'r1')")
      try await stage.settled()
      var events = try stage.arrivals().map(\.event)
      #expect(events == ["driver_nearby"])
      try await stage.sql("begin; \(change); commit")
      try await stage.settled()
      events = try stage.arrivals().map(\.event)
      #expect(events == ["driver_nearby", "driver_arrived"])
    }
  }

  @Test func `R37: an event with an early ID and a late commit is not skipped`()
    async throws
  {
    try await Stage.run { stage in
      let server = try Server(stage.environment)
      defer { server.stop() }
      try await stage.addRide()
      try await stage.sql("select pg_advisory_lock(37)")
      let other = try PostgresSession(conninfo: stage.conninfo)
      // One transaction: its event has an ID, and commits when the lock is free.
      async let late: Void = other.script(
        "select ridepulse.emit('driver_nearby', 'r1'); select pg_advisory_xact_lock(37)")
      try await stage.until(Stage.waitingForAdvisoryLock, is: "1")
      let later = try Command.ridepulse(
        ["trigger", "waiting_fee_started", "--ride", "r1", "--wait"], stage.environment)
      #expect(later.status == 0, "\(later.errors)")
      try await stage.sql("select pg_advisory_unlock(37)")
      try await late
      try await stage.settled()
      await other.close()
      let events = try stage.arrivals().map(\.event)
      #expect(events.contains("driver_nearby"))
    }
  }

  @Test func `A suppressed push is in the ledger with its reason`() async throws {
    try await Stage.run { stage in
      let server = try Server(stage.environment)
      defer { server.stop() }
      try await stage.addRide()
      try await stage.sql(
        """
        select ridepulse.emit('pickup_changed', 'r1');
        select ridepulse.emit('driver_nearby', 'nowhere');
        insert into ridepulse.rides (id, state, customer_id, attributes) values
          ('r2', 'driver_arrived', 'nobody', '{}'),
          ('r3', 'driver_arrived', 'c1', jsonb_build_object('plate', repeat('x', 5000)))
        """)
      try await stage.settled()
      let rows = try await stage.rows(
        """
        select ride_id || ' ' || status || ': ' || reason from ridepulse.deliveries
        where app = 'customer' or rule = 'driver-pickup-changed' order by 1
        """)
      #expect(
        rows == [
          ["nowhere suppressed: ride not found"],
          ["r1 suppressed: missing event.data.address"],
          ["r2 suppressed: if is false"],
          ["r2 suppressed: no phone of the customer"],
          [
            "r3 rejected: PayloadTooLarge: 5214 bytes of 4096; the largest field is "
              + "aps.alert.body with 5022"
          ],
          ["r3 suppressed: if is false"],
        ])
      #expect(try stage.arrivals().isEmpty)
    }
  }
}
