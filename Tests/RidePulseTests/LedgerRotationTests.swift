import PostgresStore
import Testing
import TestSupport

@Suite("Rotation of ledger partitions") struct LedgerRotationTests {
  private static let tomorrow = """
    select to_regclass('ridepulse.ledger_' || to_char(now() at time zone 'UTC' + interval '1 day',
      'YYYYMMDD'))
    """

  @Test func `R41: a service creates future partitions and drops old ones`() async throws {
    try await Stage.run { stage in
      let name = try #require(try await stage.value(Self.tomorrow))
      try await stage.sql("drop table \(name)")
      let server = try Server(stage.environment)
      try await stage.until(Self.tomorrow, is: name)
      #expect(server.stop() == 0)
      #expect(server.log.contains("actions=\"made \(name.dropFirst("ridepulse.".count))\""))
      try await stage.sql("drop table \(name)")
      let once = try Command.ridepulse(["serve", "--once"], stage.environment)
      #expect(once.status == 0, "\(once.errors)")
      #expect(try await stage.value(Self.tomorrow) == name)
    }
  }

  @Test func `R79: a service deletes old rows`() async throws {
    try await Stage.run { stage in
      try await stage.addRide("young")
      try await stage.sql(
        """
        insert into ridepulse.rides (id, updated_at) values ('old', now() - interval '31 days')
        """)
      let once = try Command.ridepulse(
        ["serve", "--once", "--log-level", "info"], stage.environment)
      #expect(once.status == 0, "\(once.errors)")
      #expect(once.errors.contains("Old rows deleted rows=\"1 of rides\""), "\(once.errors)")
      #expect(
        try await stage.value("select string_agg(id, ' ') from ridepulse.rides") == "young")
    }
  }

  @Test func `R41: a role without the right to create tables is logged once, and loses nothing`()
    async throws
  {
    try await Stage.run { stage in
      try await stage.addRide()
      let role = "engine_\(UInt32.random(in: 0 ... .max))"
      // Drops all partitions, including the one of today.
      try await stage.sql(
        """
        do $$
        declare day text;
        begin
          for day in select inhrelid::regclass from pg_inherits
            where inhparent = 'ridepulse.ledger'::regclass and inhrelid::regclass::text ~ '\\d$'
          loop execute 'drop table ' || day; end loop;
        end $$;
        create role \(role) login;
        grant usage on schema ridepulse to \(role);
        grant all on all tables in schema ridepulse to \(role);
        grant all on all sequences in schema ridepulse to \(role);
        grant execute on all functions in schema ridepulse to \(role);
        revoke execute on function ridepulse.rotate_ledger from \(role)
        """)
      let environment = stage.environment.merging([
        "DATABASE_URL": "\(stage.conninfo) user=\(role)"
      ]) { $1 }
      let server = try Server(environment)
      try await stage.sql("select ridepulse.emit('driver_nearby', 'r1')")
      try await stage.settled()
      let accepted = """
        select count(*) from ridepulse.deliveries where event = 'driver_nearby'
          and status = 'accepted'
        """
      #expect(try await stage.value(accepted) == "1")
      try await stage.until("select count(*) > 0 from ridepulse.ledger_default", is: "t")
      #expect(server.stop() == 0)
      #expect(server.log.split(separator: "Ledger not rotated").count == 2)
      try await stage.sql("drop owned by \(role); drop role \(role)")
    }
  }
}
