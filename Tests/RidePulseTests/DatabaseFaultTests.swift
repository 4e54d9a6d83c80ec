import Base
import Foundation
import LocalStack
import RideCore
import Testing
import TestSupport

@Suite("Database faults") struct DatabaseFaultTests {
  @Test func `R42: no transaction is open during a request to APNs`() async throws {
    try await Stage.run { stage in
      try await stage.addRide()
      try stage.faults(#"[{"match": {}, "action": {"delay_ms": 5000}}]"#)
      let server = try Server(stage.environment)
      // The push is in flight: a session idle in a transaction would hold rows back for all that
      // time. Another one follows if the machine stalls meanwhile.
      let state = """
        select (select count(*) from ridepulse.agenda where node is not null),
          (select count(*) from ridepulse.events)
        """
      var looks = 0
      try await wait(until: "a hundred looks at a push in flight") {
        let (held, events) = try await stage.rows(state).first.map { ($0[0], $0[1]) } ?? (nil, nil)
        guard held == "1" else {
          if held == "0", events == "0" {
            try await stage.sql("select ridepulse.emit('driver_nearby', 'r1')")
          }
          return false
        }
        let open = try await stage.value(
          """
          select count(*) from pg_stat_activity where datname = current_database()
            and application_name like 'ridepulse %' and state like 'idle in transaction%'
          """)
        #expect(open == "0")
        looks += 1
        return looks == 100
      }
      #expect(server.stop() == 0)
    }
  }

  @Test func `R40: a dead node's rides are free again within its lease`() async throws {
    try await Stage.run { stage in
      try await stage.sql(
        """
        select ridepulse.register_device('customer', 'c' || n, md5(n::text) || md5(n::text))
        from generate_series(1, 100) n;
        insert into ridepulse.rides (id, state, customer_id)
        select 'r' || n, 'driver_en_route', 'c' || n from generate_series(1, 100) n
        """)
      try stage.faults(#"[{"match": {}, "action": {"stall": true}}]"#)
      let first = try Server(stage.environment)
      try await stage.until(
        "select count(*) from ridepulse.agenda where node is not null", is: "100")
      first.kill9()
      try stage.faults("[]")
      let held = "select max(leased_until) <= now() + interval '20 s' from ridepulse.agenda"
      #expect(try await stage.value(held) == "t")
      let second = try Server(stage.environment)
      try await stage.settled()
      #expect(second.stop() == 0)
      let accepted = "select count(*) from ridepulse.deliveries where status = 'accepted'"
      #expect(try await stage.value(accepted) == "100")
    }
  }

  @Test func `R38: a ride that Postgres refuses to settle is parked, and all others continue`()
    async throws
  {
    try await Stage.run { stage in
      try await stage.sql(
        """
        alter table ridepulse.ledger add constraint no_13 check (ride_id <> 'r13');
        select ridepulse.register_device('customer', 'c1', '\(Stage.customerToken)');
        insert into ridepulse.rides (id, state, customer_id)
        select 'r' || n, 'driver_en_route', 'c1' from generate_series(1, 40) n
        """)
      let server = try Server(stage.environment)
      let accepted = "select count(*) from ridepulse.deliveries where status = 'accepted'"
      try await stage.until(accepted, is: "39")
      try await stage.until("select ride_id from ridepulse.parked", is: "r13")
      let report = try Command.ridepulse(["explain", "r13"], stage.environment)
      #expect(report.output.contains("parked: 23514: new row for relation \"ledger_"))
      #expect(report.output.contains("ridepulse unpark -- r13"))
      try await server.waitForLog("Ride parked: settlement refused")
      // A parked ride stays parked: an event does not wake it, and is not lost either.
      try await stage.sql("select ridepulse.emit('driver_nearby', 'r13')")
      try await stage.sql("select ridepulse.emit('driver_nearby', 'r1')")
      try await stage.until(accepted, is: "40")
      try await stage.sql("alter table ridepulse.ledger drop constraint no_13")
      #expect(try await stage.value("select ridepulse.unpark('r13')") == "t")
      // Two events of r13 waited: the later push replaces the earlier one.
      try await stage.until(accepted, is: "41")
      try await stage.settled()
      #expect(try await stage.value("select ridepulse.unpark('r13')") == "f")
      #expect(server.stop() == 0)
    }
  }

  @Test func `R18: the newest token of an installation gets the push`() async throws {
    try await Stage.run { stage in
      let tokens = (1...3).map { String(repeating: "a\($0)", count: 32) }
      for token in tokens {
        try await stage.sql(
          """
          select ridepulse.register_device('customer', 'c1', '\(token)', installation_id => 'i1')
          """)
      }
      let server = try Server(stage.environment)
      try await stage.sql(
        """
        insert into ridepulse.rides (id, state, customer_id) values ('r1', 'driver_en_route', 'c1')
        """)
      try await stage.settled()
      #expect(try stage.arrivals().map(\.token) == [tokens[2]])
      // A token that is registered again is the newest again.
      try await stage.sql(
        """
        select ridepulse.register_device('customer', 'c1', '\(tokens[0])', installation_id => 'i1');
        select ridepulse.emit('driver_nearby', 'r1')
        """)
      try await stage.settled()
      #expect(try stage.arrivals().last?.token == tokens[0])
      #expect(server.stop() == 0)
    }
  }

  @Test func `R17: a token's verdict is written with the push's, or not at all`() async throws {
    try await Stage.run { stage in
      try await stage.addRide()
      let later = Int((Date().timeIntervalSince1970 + 3600) * 1000)
      try stage.faults(
        """
        [{"match": {}, "action": {"delay_ms": 30, "answer":
          {"status": 410, "reason": "Unregistered", "timestamp": \(later)}}}]
        """)
      var numbers = SeededGenerator(seed: TestSeed.value(17))
      for turn in 0..<6 {
        try await stage.sql(
          """
          select ridepulse.register_device('customer', 'c1', '\(Stage.customerToken)');
          select ridepulse.emit('driver_nearby', 'r1')
          """)
        let server = try Server(stage.environment)
        let delay = Int.random(in: 0...120, using: &numbers)
        try await Task.sleep(for: .milliseconds(delay))  // poll: the kill is to come at random
        server.kill9()
        // Rejected in the ledger and disabled among the phones: both, or neither.
        let torn = try await stage.value(
          """
          select (exists (select from ridepulse.events)) =
            not (exists (select from ridepulse.current_devices where app = 'customer'))
          """)
        #expect(torn == "f", "turn \(turn)")
        try await stage.sql(
          "update ridepulse.agenda set leased_until = now(); delete from ridepulse.events")
      }
    }
  }
}
