import Foundation
import Testing

@testable import PostgresStore

/// The indexes of the search, on a database with a large ledger.
@Suite(.timeLimit(.minutes(60))) struct IndexBuildTests {
  private let session: PostgresSession
  private let url: String

  init() async throws {
    url = try await makeDatabase()
    session = try PostgresSession(conninfo: url)
  }

  private static let valid = """
    select string_agg(relname || ' ' || indisvalid, ', ' order by relname)
    from pg_index join pg_class on oid = indexrelid
    where relname in ('ledger_by_token', 'ledger_by_apns_id')
    """

  /// Fills today's partition and the rides, whose indexes are missing, as those of a later migration
  /// would be.
  private func fill() async throws {
    _ = try await Migrations.apply(session: session)
    let today = try await session.value("select 'ledger_' || to_char(now(), 'YYYYMMDD')") ?? ""
    try await session.script(
      """
      drop index ridepulse.rides_by_customer, ridepulse.rides_by_driver, ridepulse.ledger_by_token,
        ridepulse.ledger_by_apns_id;
      do $$
      declare
        m record;
      begin
        for m in select * from ridepulse.search_indexes() i where i.of_table = 'ledger' loop
          execute format('create index %I on only ridepulse.ledger using %s', m.name, m.definition);
        end loop;
      end
      $$;
      set session_replication_role = replica;
      insert into ridepulse.ledger (ride_id, apns_id, event, rule, app, push_type, status, attempts,
        token_suffix, occurred_at)
      select 'r' || n, gen_random_uuid(), 'e', 'r', 'customer', 'alert', 'accepted', 1,
        right(md5(n::text), 6), now()
      from generate_series(1, 60000) n;
      insert into ridepulse.rides (id, customer_id, attributes)
      select 'r' || n, 'c' || n, jsonb_build_object('a', repeat('x', 150)) from generate_series(1, 25000) n;
      reset session_replication_role
      """)
    let build = IndexBuild(session: session)
    for index in try await build.missing() where index.parent != nil && index.relation != today {
      try await build.build(index)
    }
  }

  @Test func `R109: large tables get their indexes later, while they are written`() async throws {
    try await fill()
    let build = IndexBuild(session: session)
    let missing = try await build.missing()
    #expect(
      missing.map(\.name).sorted().filter { !$0.hasPrefix("ledger_2") } == [
        "rides_by_customer", "rides_by_driver",
      ])
    #expect(missing.count == 4, "\(missing)")
    #expect(missing.allSatisfy { $0.state == .missing })
    #expect(
      try await session.value(Self.valid) == "ledger_by_apns_id false, ledger_by_token false")

    // A row that another transaction has written, and not committed: a plain build would wait for
    // it, and all writers for the build.
    let writer = try PostgresSession(conninfo: url)
    let pid = try await writer.value("select pg_backend_pid()") ?? ""
    let writing = writer.begin(
      """
      with changed as (
        update ridepulse.rides set state = 'requested' where id = 'r1' returning 1)
      select count(*) from changed, pg_sleep(600)
      """)
    let observer = try PostgresSession(conninfo: url)
    try await observer.waitUntilSleeping(pid)
    let rides = try #require(missing.first { $0.name == "rides_by_customer" })
    let building = Task { try await build.build(rides) }
    let waits = """
      select count(*) from pg_stat_progress_create_index
      where datname = current_database() and phase ~ 'waiting'
      """
    try await observer.wait(until: waits, is: "1")
    try await observer.script(
      "set lock_timeout = '5s'; update ridepulse.rides set state = 'requested' where id = 'r2'")
    let other = IndexBuild(session: observer)
    #expect(
      try await other.missing().first { $0.name == "rides_by_customer" }?.state == .building)
    _ = try await observer.value("select pg_cancel_backend($1::int)", [pid])
    _ = await writing.value
    try await building.value
    for index in try await build.missing() { try await build.build(index) }
    #expect(try await build.missing() == [])
    #expect(try await session.value(Self.valid) == "ledger_by_apns_id true, ledger_by_token true")
    for session in [writer, observer] { await session.close() }
  }

  /// What a session does next, by time: seconds, indexes, lock, busy.
  @Test func `R109: sessions that build indexes take turns`() {
    func index(_ state: MissingIndex.State) -> MissingIndex {
      MissingIndex(
        name: "i", relation: "rides", state: state, schema: "s", definition: "d", parent: nil)
    }
    let (missing, building) = (index(.missing), index(.building))
    typealias Step = IndexBuildTurn.Step
    typealias Moment = (
      at: Int, indexes: [MissingIndex], holdsLock: Bool, isBusy: Bool, step: Step
    )
    let cases: [[Moment]] = [
      [(0, [], false, true, .done)],
      [(0, [missing, building], true, false, .wait(building)), (9, [], true, false, .done)],
      // VACUUM of a table does not stop the session that has the lock.
      [(0, [missing], true, true, .build(missing))],
      [(0, [missing], false, true, .wait(nil)), (999, [missing], false, true, .wait(nil))],
      // A lock that nobody uses.
      [
        (0, [missing], false, false, .wait(nil)), (59, [missing], false, false, .wait(nil)),
        (60, [missing], false, false, .build(missing)),
        (61, [missing], false, false, .build(missing)),
      ],
      // A build begins meanwhile, and the limit counts from its end.
      [
        (0, [missing], false, false, .wait(nil)), (50, [building], false, true, .wait(building)),
        (70, [missing], false, false, .wait(nil)), (129, [missing], false, false, .wait(nil)),
        (130, [missing], false, false, .build(missing)),
      ],
    ]
    let start = ContinuousClock.now
    for moments in cases {
      var turn = IndexBuildTurn()
      for moment in moments {
        let step = turn.next(
          moment.indexes, holdsLock: moment.holdsLock, isBusy: moment.isBusy,
          now: start + .seconds(moment.at))
        #expect(step == moment.step, "\(moment)")
      }
    }
  }

  @Test func `R109: several sessions build the indexes at once, and none fails`() async throws {
    _ = try await Migrations.apply(session: session)
    try await session.script(
      """
      insert into ridepulse.rides (id) values ('r1');
      drop index ridepulse.rides_by_customer, ridepulse.rides_by_driver, ridepulse.devices_by_suffix
      """)
    let sessions = try (0..<5).map { _ in try PostgresSession(conninfo: url) }
    let (writer, observer, builders) = (sessions[0], sessions[1], sessions[2...])
    let pid = try await writer.value("select pg_backend_pid()") ?? ""
    let writing = writer.begin(
      """
      with changed as (
        update ridepulse.rides set state = 'requested' where id = 'r1' returning 1)
      select count(*) from changed, pg_sleep(600)
      """)
    try await observer.waitUntilSleeping(pid)
    let (waits, waiting) = AsyncStream.makeStream(of: Void.self)
    let builds = builders.map { builder in
      Task {
        try await IndexBuild(session: builder).buildAll { step in
          if case .waiting = step { waiting.yield() }
        }
      }
    }
    // One builds and waits for the writer; the others have seen it.
    try await observer.wait(
      until: """
        select count(*) from pg_stat_progress_create_index where datname = current_database()
        """, is: "1")
    var seen = 0
    for await _ in waits {
      seen += 1
      if seen == 4 { break }
    }
    _ = try await observer.value("select pg_cancel_backend($1::int)", [pid])
    _ = await writing.value
    var built = 0
    for build in builds { built += try await build.value }
    #expect(built == 3)
    #expect(try await IndexBuild(session: session).missing() == [])
    // The lock is free again.
    #expect(
      try await session.value(
        """
        select count(*) from pg_locks where locktype = 'advisory'
          and database = (select oid from pg_database where datname = current_database())
        """) == "0")
    for session in sessions { await session.close() }
  }

  @Test func `R109: an interrupted build is repeated, and a built index is attached`() async throws
  {
    try await fill()
    let build = IndexBuild(session: session)
    let day = try #require(try await build.missing().first { $0.name.hasSuffix("_by_token") })
    // As an interruption leaves it.
    try await session.script(
      """
      create index \(day.name) on ridepulse.\(day.relation) (token_suffix text_pattern_ops)
        where token_suffix is not null;
      update pg_index set indisvalid = false where indexrelid = 'ridepulse.\(day.name)'::regclass
      """)
    let invalid = try #require(try await build.missing().first { $0.name == day.name })
    #expect(invalid.state == .invalid)
    try await session.script(
      "update pg_index set indisvalid = true where indexrelid = 'ridepulse.\(day.name)'::regclass")
    #expect(try await build.missing().first { $0.name == day.name }?.state == .detached)
    try await build.build(invalid)
    #expect(try await build.missing().contains { $0.name == day.name } == false)
  }

  @Test func `R109: a day that is made meanwhile has the indexes`() async throws {
    try await fill()
    try await session.script(
      """
      drop table ridepulse.\(try await session.value(
        "select 'ledger_' || to_char((now() at time zone 'UTC')::date + 3, 'YYYYMMDD')") ?? "");
      select count(*) from ridepulse.rotate_ledger()
      """)
    let made = """
      select string_agg(distinct a.amname, ' ') from pg_index x
      join pg_class c on c.oid = x.indexrelid join pg_am a on a.oid = c.relam
      join pg_inherits h on h.inhrelid = x.indexrelid
      where x.indrelid = ('ridepulse.ledger_'
          || to_char((now() at time zone 'UTC')::date + 3, 'YYYYMMDD'))::regclass
        and h.inhparent in ('ridepulse.ledger_by_token'::regclass,
          'ridepulse.ledger_by_apns_id'::regclass) and x.indisvalid
      """
    #expect(try await session.value(made) == "brin btree")
    #expect(try await IndexBuild(session: session).missing().count == 4)
  }

  @Test func `R113: each search is planned by its index, also if a partition is new`() async throws
  {
    try await fill()
    let build = IndexBuild(session: session)
    #expect(try await build.buildAll() == 4)
    try await session.script(
      "create index own_index_of_fleet on ridepulse.rides ((attributes ->> 'fleet_id'))")
    for (statement, parameters, index) in [
      (SearchStatements.ofPush, ["00000000-0000-8000-8000-000000000000"], "_by_apns_id"),
      (SearchStatements.pushesOfToken, ["{abcdef}", "{1}", "51", "30 days"], "_by_token"),
      (SearchStatements.phonesOfToken, ["{abcdef}", "51"], "devices_by_suffix"),
      (SearchStatements.cardsOfToken, ["{abcdef}", "51"], "live_activities_by_suffix"),
      (SearchStatements.startTokensOfToken, ["{abcdef}", "51"], "push_to_start_tokens_by_suffix"),
      (SearchStatements.phonesOfOwner, ["c1", "{customer}", "51"], "devices_disabled_by_owner"),
      (
        SearchStatements.ridesOfOwner(apps: ["customer", "driver", "fleet"]),
        ["c1", "51", "customer", "driver", "fleet"], "rides_by_driver"
      ),
      (
        SearchStatements.ridesOfOwner(apps: ["fleet"]), ["c1", "51", "fleet"], "own_index_of_fleet"
      ),
      (
        SearchStatements.pushesOfPerson, ["{abcdef}", "{1}", "{r1}", "{customer}", "51", nil],
        "_by_token"
      ),
    ] as [(Statement, [String?], String)] {
      let results = try await session.run([
        direct("begin"), Call(SearchStatements.settings),
        direct("explain " + statement.sql, parameters), direct("rollback"),
      ])
      let plan = (0..<results[2].rowCount).compactMap { results[2].string($0, 0) }
        .joined(separator: "\n")
      #expect(plan.contains(index), "\(plan)")
      #expect(!plan.contains("Seq Scan on ledger"), "\(plan)")
    }
  }
}
