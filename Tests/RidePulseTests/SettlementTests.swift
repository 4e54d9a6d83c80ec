import Foundation
import LocalStack
import Testing
import TestSupport

/// Tests that a settlement which Postgres refuses affects nothing else.
@Suite("Settlements that are refused", .timeLimit(.minutes(60))) struct SettlementTests {
  /// Adds rides with a customer and a phone each, all of which have an event now.
  static func notify(_ rides: Int, from first: Int = 1, _ stage: Stage) async throws {
    try await stage.sql(
      """
      select ridepulse.register_device('customer', 'c' || n, md5(n::text) || md5('x' || n))
      from generate_series(\(first), \(first + rides - 1)) n;
      insert into ridepulse.rides (id, state, customer_id)
      select 'r' || n, 'driver_arrived', 'c' || n
      from generate_series(\(first), \(first + rides - 1)) n
      """)
  }

  static func raise(_ condition: String, state: String = "P0001") -> String {
    """
    create function public.refuse() returns trigger language plpgsql as $$
    begin
      raise exception 'the auditor refuses %', new.ride_id using errcode = '\(state)';
    end $$;
    create trigger refuse before insert on ridepulse.ledger for each row
    when (\(condition)) execute function public.refuse()
    """
  }

  static let accepted = "select count(*) from ridepulse.deliveries where status = 'accepted'"

  /// Returns the number of pushes by token.
  static func arrivals(_ stage: Stage) throws -> [String: Int] {
    try stage.arrivals().reduce(into: [:]) { $0[$1.token, default: 0] += 1 }
  }

  static func waitForArrivals(_ count: Int, _ stage: Stage) async throws {
    try await wait(until: "\(count) phones have received a push") {
      try arrivals(stage).count >= count
    }
  }

  @Test func `A ride that a trigger refuses is parked, and all others settle`() async throws {
    try await Stage.run { stage in
      try await stage.sql(Self.raise("new.ride_id = 'r7'"))
      try await Self.notify(40, stage)
      let server = try Server(stage.environment)
      try await stage.until(Self.accepted, is: "39")
      try await stage.until("select ride_id from ridepulse.parked", is: "r7")
      let reason = try await stage.value("select reason from ridepulse.parked")
      #expect(reason?.contains("P0001: the auditor refuses r7") == true, "\(reason ?? "")")
      // Claims continue, and no phone received a push twice.
      try await Self.notify(5, from: 101, stage)
      try await stage.until(Self.accepted, is: "44")
      #expect(try Self.arrivals(stage).count == 45)
      #expect(try Self.arrivals(stage).values.allSatisfy { $0 == 1 })
      try await stage.sql("drop trigger refuse on ridepulse.ledger; select ridepulse.unpark('r7')")
      try await stage.until(Self.accepted, is: "45")
      #expect(server.stop() == 0)
    }
  }

  @Test func `A ride whose ID is too long for the ledger's key is parked, and all others settle`()
    async throws
  {
    try await Stage.run { stage in
      // The schema refuses such an ID; here its constraints are dropped first.
      try await stage.sql(
        """
        do $$
        declare c record;
        begin
          for c in select conrelid::regclass as relation, conname from pg_constraint
            where contype = 'c' and connamespace = 'ridepulse'::regnamespace
              and pg_get_constraintdef(oid) ~ '(octet_)?length' loop
            execute format('alter table %s drop constraint %I', c.relation, c.conname);
          end loop;
        end $$;
        create extension if not exists pgcrypto;
        select ridepulse.register_device('customer', 'long', md5('long') || md5('long'));
        insert into ridepulse.rides (id, state, customer_id)
        select left(string_agg(translate(encode(gen_random_bytes(1000), 'hex'),
          '0123456789abcdef', 'ghijklmnopqrstuv'), ''), 2680), 'driver_arrived', 'long'
        from generate_series(1, 2)
        """)
      try await Self.notify(20, stage)
      let server = try Server(stage.environment)
      try await stage.until(Self.accepted, is: "20")
      try await stage.until("select length(ride_id) from ridepulse.parked", is: "2680")
      let reason = try await stage.value("select reason from ridepulse.parked")
      #expect(reason?.contains("54000") == true, "\(reason ?? "")")
      #expect(try Self.arrivals(stage).values.allSatisfy { $0 == 1 })
      #expect(server.stop() == 0)
    }
  }

  private func readiness(of client: APIClient, is status: Int) async throws -> APIClient.Answer {
    var answer = try client.get("/readyz")
    try await wait(until: "/readyz answers \(status): \(answer)") {
      answer = try client.get("/readyz")
      return answer.status == status
    }
    return answer
  }

  /// Makes settlements fail for longer than a lease, until the cause is removed.
  private func outage(
    _ stage: Stage, _ environment: [String: String], says words: String,
    begin: () async throws -> Void, end: () async throws -> Void
  ) async throws {
    let (server, client) = try await APIClient.serve(environment)
    _ = try await readiness(of: client, is: 200)
    try await begin()
    try await Self.notify(8, stage)
    try await Self.waitForArrivals(8, stage)
    // Further pushes are not sent, because they could not be settled.
    try await stage.until(
      "select count(*) from ridepulse.agenda where node is not null", is: "8")
    let ready = try await readiness(of: client, is: 503)
    for text in ["settlement has failed since", words, "nothing is lost"] {
      #expect(ready.text.contains(text), "\(text) is not in \(ready.text)")
    }
    #expect(try client.get("/healthz").status == 200, "a restart would not help")
    #expect(!(try client.get("/metrics").text.contains("ridepulse_settlement_failing_seconds 0\n")))
    let until = try await stage.value(
      "select max(leased_until) + interval '25 s' from ridepulse.agenda")
    try await Self.notify(4, from: 51, stage)
    try await stage.until(
      "select min(leased_until) > '\(until ?? "")' from ridepulse.agenda where node is not null",
      is: "t", within: .seconds(240))
    #expect(try Self.arrivals(stage).count == 8, "sent though nothing can be settled")
    #expect(try Self.arrivals(stage).values.allSatisfy { $0 == 1 }, "sent twice")
    #expect(try await stage.value("select count(*) from ridepulse.parked") == "0")
    try await end()
    try await stage.settled(within: .seconds(240))
    #expect(try await stage.value(Self.accepted) == "12")
    #expect(try Self.arrivals(stage).count == 12)
    #expect(try Self.arrivals(stage).values.allSatisfy { $0 == 1 }, "sent twice")
    _ = try await readiness(of: client, is: 200)
    let started = server.log.components(separatedBy: "Settlement failed, claiming paused").count - 1
    #expect(started == 1, "said \(started) times")
    #expect(server.log.contains("Settlement succeeded, claiming resumed"))
    #expect(server.stop() == 0)
  }

  @Test func `a trigger that refuses every row stops claims, parks nothing and loses nothing`()
    async throws
  {
    try await Stage.run { stage in
      try await outage(stage, stage.environment, says: "P0001: the auditor refuses") {
        try await stage.sql(Self.raise("true"))
      } end: {
        try await stage.sql("drop trigger refuse on ridepulse.ledger")
      }
    }
  }

  @Test func `a lost right stops claims, parks nothing and loses nothing`() async throws {
    try await Stage.run { stage in
      let engine = "engine_\(UUID().uuidString.prefix(8).lowercased())"
      try await stage.sql(
        """
        create role \(engine) login;
        grant usage on schema ridepulse to \(engine);
        grant all on all tables in schema ridepulse to \(engine);
        grant usage on all sequences in schema ridepulse to \(engine);
        grant execute on all functions in schema ridepulse to \(engine)
        """)
      let environment = stage.environment.merging(
        ["DATABASE_URL": "\(stage.conninfo) user=\(engine)"]) { $1 }
      try await outage(stage, environment, says: "42501: permission denied") {
        try await stage.sql("revoke insert on ridepulse.ledger from \(engine)")
      } end: {
        try await stage.sql("grant insert on ridepulse.ledger to \(engine)")
      }
      try await stage.sql("drop owned by \(engine); drop role \(engine)")
    }
  }

  @Test(.enabled(if: geteuid() == 0, "a small disk is a tmpfs, and only root may mount one"))
  func `a full disk stops claims, parks nothing and loses nothing`() async throws {
    try await Stage.run { stage in
      let disk = "\(stage.directory)-disk"
      let socket = try #require(stage.conninfo.firstMatch(of: /host=(\S+)/)).output.1
      let mounted = try Command.run(
        "/bin/sh",
        [
          "-c",
          """
          mkdir \(disk) && mount -t tmpfs -o size=3m tmpfs \(disk) && mkdir \(disk)/space &&
          chown --reference=\(socket)/data \(disk) \(disk)/space
          """,
        ])
      if mounted.status != 0 {
        print("skipped, no tmpfs can be mounted here: \(mounted.errors)")
        return
      }
      defer { _ = try? Command.run("/bin/sh", ["-c", "umount -l \(disk); rmdir \(disk)"]) }
      let space = "disk_\(UUID().uuidString.prefix(8).lowercased())"
      try await stage.sql("create tablespace \(space) location '\(disk)/space'")
      try await stage.sql(
        """
        do $$
        declare today text := 'ledger_' || to_char(now() at time zone 'UTC', 'YYYYMMDD');
        begin
          execute format('alter table ridepulse.%I set tablespace \(space)', today);
          execute format('alter index ridepulse.%I set tablespace \(space)', today || '_pkey');
          execute format('alter table ridepulse.%I set (fillfactor = 10)', today);
        end $$;
        create table public.filler (text text) tablespace \(space);
        alter table public.filler alter text set storage external
        """)
      try await outage(stage, stage.environment, says: "53100") {
        // Until no page is left.
        for size in [100_000, 7000, 7000] {
          while (try? await stage.sql(
            "insert into public.filler select repeat('x', \(size))")) != nil
          {}
        }
      } end: {
        try await stage.sql("drop table public.filler")
      }
      try await stage.sql("drop table if exists public.filler")
      let tables = "alter table all in tablespace \(space) set tablespace pg_default"
      try await stage.sql(tables)
      try await stage.sql("alter index all in tablespace \(space) set tablespace pg_default")
      try await stage.sql("drop tablespace \(space)")
    }
  }

  @Test
  func `A stop ends while settling fails, and the next node sends the pushes with the same IDs`()
    async throws
  {
    try await Stage.run { stage in
      try await stage.sql(Self.raise("true"))
      try await Self.notify(3, stage)
      let server = try Server(stage.environment)
      try await Self.waitForArrivals(3, stage)
      try await server.waitForLog("Settlement failed, claiming paused")
      #expect(server.stop() == 0)
      #expect(server.log.contains("Rides left to their lease"))
      try await stage.sql(
        "drop trigger refuse on ridepulse.ledger; update ridepulse.agenda set leased_until = now()")
      let next = try Server(stage.environment)
      try await stage.until(Self.accepted, is: "3")
      #expect(Set(try stage.arrivals().map(\.id)).count == 3)
      #expect(next.stop() == 0)
    }
  }
}
