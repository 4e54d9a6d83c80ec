import Foundation
import PostgresStore
import Testing
import TestSupport

/// Claims that exceed the time or memory limit become smaller, and never delay healthy rides.
@Suite("Claims that are too large", .timeLimit(.minutes(60))) struct HeavyClaimTests {
  @Test func `A backlog drains although the role's statement_timeout is short`() async throws {
    try await Stage.run { stage in
      let role = "slow_\(UUID().uuidString.prefix(8).lowercased())"
      // Each agenda row costs a millisecond: 500 of them exceed the role's timeout.
      try await stage.sql(
        """
        create function public.slow() returns trigger language plpgsql as
          'begin perform pg_sleep(0.001); return new; end';
        create trigger slow before insert or update on ridepulse.agenda
        for each row execute function public.slow();
        create role \(role) login superuser;
        alter role \(role) set statement_timeout = '200ms'
        """)
      try await SettlementTests.notify(1500, stage)
      let server = try Server(
        stage.environment.merging(["DATABASE_URL": "\(stage.conninfo) user=\(role)"]) { $1 })
      try await stage.until(SettlementTests.accepted, is: "1500", within: .seconds(300))
      #expect(try SettlementTests.arrivals(stage).count == 1500)
      #expect(try await stage.value("select count(*) from ridepulse.parked") == "0")
      #expect(server.stop() == 0)
      #expect(server.log.contains("Claim failed, claiming fewer rides"))
      let doctor = try Command.ridepulse(
        ["doctor"],
        stage.environment.merging(["DATABASE_URL": "\(stage.conninfo) user=\(role)"]) { $1 })
      #expect(doctor.output.contains("role \(role) has statement_timeout = 200ms"))
      try await stage.sql("drop role \(role)")
    }
  }

  @Test func `A limit that does not fit one ride is reported with its role`() async throws {
    try await Stage.run { stage in
      let role = "none_\(UUID().uuidString.prefix(8).lowercased())"
      try await stage.sql(
        """
        create function public.slow() returns trigger language plpgsql as
          'begin perform pg_sleep(2); return new; end';
        create trigger slow before insert or update on ridepulse.agenda
        for each row execute function public.slow();
        create role \(role) login superuser;
        alter role \(role) set statement_timeout = '500ms'
        """)
      try await SettlementTests.notify(2, stage)
      let server = try Server(
        stage.environment.merging(["DATABASE_URL": "\(stage.conninfo) user=\(role)"]) { $1 })
      try await server.waitForLog("role \(role) has statement_timeout = 500ms")
      #expect(try await stage.value("select count(*) from ridepulse.parked") == "0")
      try await stage.sql("drop trigger slow on ridepulse.agenda")
      try await stage.until(SettlementTests.accepted, is: "2")
      #expect(server.stop() == 0)
      try await stage.sql("drop role \(role)")
    }
  }

  @Test func `Rides with attributes of 80 MB are parked next to healthy ones, in little memory`()
    async throws
  {
    try await Stage.run { stage in
      // Compressed in the table, it is under a megabyte.
      try await stage.session.script(
        """
        set ridepulse.silent = 'on';
        insert into ridepulse.rides (id, state, attributes)
        values ('h1', 'driver_arrived', jsonb_build_object('x', repeat('a', 80 << 20)));
        insert into ridepulse.rides (id, state, attributes)
        select 'h' || n, 'driver_arrived', (select attributes from ridepulse.rides where id = 'h1')
        from generate_series(2, 24) n;
        reset ridepulse.silent;
        delete from ridepulse.events;
        select ridepulse.emit('driver_arrived', 'h' || n) from generate_series(1, 24) n
        """, timeout: .seconds(120))
      try await SettlementTests.notify(20, stage)
      let (server, client) = try await APIClient.serve(stage.environment)
      try await stage.until(SettlementTests.accepted, is: "20", within: .seconds(240))
      // At their first read: no other node could read them either.
      try await stage.until("select count(*) from ridepulse.parked", is: "24")
      #expect(try await stage.value("select max(unread) from ridepulse.agenda") == "1")
      let reasons = try await stage.rows("select distinct reason from ridepulse.parked")
      #expect(
        reasons == [["its attributes are too large: 83886089 bytes, the limit is 1048576"]])
      #expect(try await stage.value("select count(*) from ridepulse.parked") == "24")
      let page = try client.get("/metrics").text
      let memory = page.firstMatch(of: /\nprocess_resident_memory_bytes (\S+)/)?.output.1 ?? ""
      #expect((Double(memory) ?? .infinity) < 200e6, "\(memory) bytes")
      #expect(try SettlementTests.arrivals(stage).values.allSatisfy { $0 == 1 })
      #expect(server.stop() == 0)
    }
  }
}
