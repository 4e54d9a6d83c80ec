import Foundation
import LocalStack
import PostgresStore
import RideCore

/// (g) Measures searches in a ledger of ten million rows, and what building their indexes takes.
struct SearchBench: DatabaseBench {
  let database: BenchDatabase
  private let days = 30
  private let rowsOfDay = 333_333
  private static let customers = 150_000
  private static let drivers = 2000

  init() async throws {
    database = try await BenchDatabase(durability: .fast)
    // They are built afterwards, as on a database that is upgraded.
    try await session.script(
      """
      do $$
      declare
        m record;
      begin
        for m in select * from ridepulse.search_indexes() loop
          execute format('drop index ridepulse.%I', m.name);
          if m.of_table = 'ledger' then
            execute format('create index %I on only ridepulse.ledger using %s', m.name, m.definition);
          end if;
        end loop;
      end
      $$
      """)
  }

  func run() async throws {
    Figures.head("searches, \(days * rowsOfDay) ledger rows of \(days) days")
    try await load()
    let clock = ContinuousClock()
    let build = IndexBuild(session: session)
    let missing = try await build.missing()
    let built = try await clock.measure { for index in missing { try await build.build(index) } }
    Figures.row("s of building \(missing.count) indexes", Figures.number(built / .seconds(1)))
    try await size("by_token")
    try await size("by_apns_id")
    let id = try await value("select apns_id::text from ridepulse.ledger offset 5000000 limit 1")
    let suffix = try await value(
      "select right(token, 6) from ridepulse.devices where app = 'driver' offset 1000 limit 1")
    guard let push = PushID(id), let token = TokenSuffix(suffix),
      let nothing = TokenSuffix("000000")
    else { throw BenchFailure(text: "no row to search for") }
    for (name, key) in [
      ("apns-id", SearchKey.push(push)),
      ("apns-id that is not there", .push(PushID(of: "none"))),
      ("token of a driver", .token(token)), ("token that is not there", .token(nothing)),
      ("driver", .owner("d1001")), ("customer", .owner("c1001")),
    ] {
      // Neither the server nor its sessions have anything cached; the operating system may.
      try await cluster.restart()
      let own = try PostgresSession(conninfo: cluster.url())
      var count = 0
      let took = try await clock.measure {
        count = try await PushSearch(session: own).result(of: key).pushes.items.count
      }
      await own.close()
      Figures.row(
        "ms by \(name), \(count) pushes", Figures.number(took / .milliseconds(1)),
        goal: "under 1000")
    }
  }

  private func value(_ sql: String) async throws -> String {
    try await session.run(
      [Call(Statement(name: "", sql: sql))], timeout: .seconds(60))[0].string(0, 0) ?? ""
  }

  private func size(_ end: String) async throws {
    let bytes = try await value(
      """
      select sum(pg_relation_size(oid))::text from pg_class
      where relkind = 'i' and relname ~ '^ledger_.*\(end)'
      """)
    let each = (Double(bytes) ?? 0) / Double(days * rowsOfDay)
    Figures.row("bytes a row of \(end)", Figures.number(each))
  }

  /// Rides with 16 pushes each, half of them to the driver; 300 rides are under way at a time.
  private func load() async throws {
    try await session.script(
      """
      insert into ridepulse.devices (app, owner_id, token)
      select 'customer', 'c' || n, encode(sha256(('c' || n)::bytea), 'hex')
        from generate_series(0, \(Self.customers - 1)) n
      union all
      select 'driver', 'd' || n, encode(sha256(('d' || n)::bytea), 'hex')
        from generate_series(0, \(Self.drivers - 1)) n;
      set session_replication_role = replica;
      insert into ridepulse.rides (id, state, customer_id, driver_id, updated_at)
      select md5(n::text)::uuid::text, 'ride_completed', 'c' || n % \(Self.customers),
        'd' || n % \(Self.drivers), now() - (n / 21000) * interval '1 day'
      from generate_series(0, \(days * 21000 - 1)) n;
      """, timeout: .seconds(600))
    for day in 0..<days {
      try await session.script(
        """
        do $$
        declare day date := (now() at time zone 'UTC')::date - \(day);
        begin
          if to_regclass('ridepulse.ledger_' || to_char(day, 'YYYYMMDD')) is null then
            execute format('create table ridepulse.ledger_%s partition of ridepulse.ledger '
              'for values from (%L) to (%L)', to_char(day, 'YYYYMMDD'), day || ' 00:00:00+00',
              (day + 1) || ' 00:00:00+00');
          end if;
        end $$;
        insert into ridepulse.ledger (ride_id, apns_id, event_id, event, rule, app, push_type, status,
          attempts, collapse_id, device_id, token_suffix, occurred_at, created_at, finished_at,
          priority, expiration)
        select s.ride, gen_random_uuid(), s.i, 'driver_arrived', 'driver-arrived', d.app, 'alert',
          'accepted', 1, 'ride-' || s.ride, d.id, right(d.token, 6), s.at, s.at, s.at, 10, 1800000000
        from (
          select i, \(day) * 21000 + (i / 4800) * 300 + i % 300 as number, (i / 300) % 2 as turn,
            md5((\(day) * 21000 + (i / 4800) * 300 + i % 300)::text)::uuid::text as ride,
            date_trunc('day', now(), 'UTC') - \(day) * interval '1 day'
              + i * interval '86399 seconds' / \(rowsOfDay) as at
          from generate_series(0, \(rowsOfDay - 1)) i) s
        join ridepulse.devices d on d.owner_id = case turn
          when 0 then 'c' || number % \(Self.customers) else 'd' || number % \(Self.drivers) end
        order by s.i
        """, timeout: .seconds(600))
    }
  }
}
