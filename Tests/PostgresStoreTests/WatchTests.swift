import Testing

@testable import PostgresStore

/// Tests of `ridepulse.watch`: rows of a service's own table become rides, and no write to it
/// fails.
@Suite("Attached tables", .timeLimit(.minutes(60))) struct WatchTests {
  let session: PostgresSession
  let url: String

  static let mapping = """
    {"id": "id", "state": "status", "customer_id": "rider", "driver_id": "driver",
     "pickup_at": "pickup", "time_zone": "tz", "attributes": "details"}
    """

  private static let table = """
    create table bookings (id text, status text, rider text, driver text, pickup text, tz text,
      details jsonb, unmapped text);
    """

  init() async throws {
    url = try await migratedDatabase()
    session = try PostgresSession(conninfo: url)
    try await session.script(
      "\(Self.table) select ridepulse.watch('bookings', '\(Self.mapping)')")
  }

  static let ride = """
    select concat_ws(' ', id, state, customer_id, driver_id, to_char(pickup_at at time zone 'UTC',
      'HH24:MI'), time_zone, attributes) from ridepulse.rides order by id limit 1
    """

  private static let errors = """
    select string_agg(column_name || ' ' || problem || ' ' || coalesce(row_id, '-'), ', '
      order by column_name) from ridepulse.watch_errors
    """

  static let problems = """
    select string_agg("table" || ' ' || column_name || ' ' || problem, ', ' order by column_name,
      problem) from ridepulse.watch_problems
    """

  private static let long = String(repeating: "x", count: 513)

  @Test func `a row becomes a ride, and its changes become events`() async throws {
    try await session.script(
      """
      insert into bookings values ('r1', 'requested', 'c1', 'd1', '2026-03-01 10:00+01',
        'Europe/Berlin', '{"plate": "B 1"}');
      update bookings set status = 'driver_arrived';
      update bookings set unmapped = 'nothing of ours';
      update bookings set details = null
      """)
    #expect(
      try await session.value(Self.ride) == "r1 driver_arrived c1 d1 09:00 Europe/Berlin {}")
    #expect(
      try await session.value("select string_agg(event, ' ' order by id) from ridepulse.events")
        == "requested driver_arrived ride_updated")
    #expect(try await session.value(Self.problems) == nil)
  }

  /// Rows with invalid values, the resulting ride, and the recorded faults.
  private static let rows: [(values: String, ride: String?, errors: String?)] = [
    ("null, 'requested'", nil, "id null_id -"),
    ("'', 'requested'", nil, "id empty_id "),
    ("'\(long)', 'requested'", nil, "id too_long \(long.prefix(80))"),
    (
      "'\(String(repeating: "é", count: 257))', 'requested'", nil,
      "id too_long \(String(repeating: "é", count: 80))"
    ),
    ("'r1', '\(long)'", "r1 UTC {}", "status too_long r1"),
    ("'r1', null, '\(long)'", "r1 UTC {}", "rider too_long r1"),
    ("'r1', null, 'c1', '\(long)'", "r1 c1 UTC {}", "driver too_long r1"),
    ("'r1', null, null, null, 'soon'", "r1 UTC {}", "pickup no_time_zone r1"),
    ("'r1', null, null, null, '2026-03-01 10:00'", "r1 UTC {}", "pickup no_time_zone r1"),
    ("'r1', null, null, null, '2026-02-31 10:00Z'", "r1 UTC {}", "pickup bad_time r1"),
    ("'r1', null, null, null, '2026-03-01 10:00-99'", "r1 UTC {}", "pickup bad_time r1"),
    ("'r1', null, null, null, '2026-03-01T10:00:00.5-02:30'", "r1 12:30 UTC {}", nil),
    ("'r1', null, null, null, 'infinity'", "r1 UTC {}", "pickup bad_time r1"),
    ("'r1', null, null, null, null, 'Mars/Olympus'", "r1 UTC {}", "tz unknown_time_zone r1"),
    ("'r1', null, null, null, null, ''", "r1 UTC {}", "tz unknown_time_zone r1"),
    ("'r1', null, null, null, null, null, '[1]'", "r1 UTC {}", "details not_an_object r1"),
    (
      "'r1', null, null, null, '99:10 z', 'y', '1'", "r1 UTC {}",
      "details not_an_object r1, pickup bad_time r1, tz unknown_time_zone r1"
    ),
  ]

  @Test(arguments: rows.indices)
  func `a bad value fails no write, and is recorded`(index: Int) async throws {
    let (values, ride, errors) = Self.rows[index]
    try await session.script("insert into bookings values (\(values))")
    #expect(try await session.value("select count(*) from bookings") == "1")
    #expect(try await session.value(Self.ride) == ride)
    #expect(try await session.value(Self.errors) == errors)
  }

  @Test func `R66: a renamed column leaves rides as they are, and is named`() async throws {
    try await session.script("insert into bookings values ('r1', 'requested', 'c1')")
    try await session.script(
      """
      delete from ridepulse.events;
      alter table bookings rename column status to state;
      update bookings set rider = 'c2';
      insert into bookings (id, state) values ('r2', 'requested')
      """)
    #expect(try await session.value("select count(*) from bookings") == "2")
    #expect(try await session.value(Self.ride) == "r1 requested c1 UTC {}")
    #expect(try await session.value("select count(*) from ridepulse.rides") == "1")
    #expect(try await session.value("select count(*) from ridepulse.events") == "0")
    #expect(try await session.value(Self.errors) == "status missing_column -")
    #expect(
      try await session.value(Self.problems)
        == "public.bookings  unread_ride, public.bookings status missing_column")
    // The owner attaches the table again.
    try await session.script(
      """
      alter table bookings rename column state to status;
      select ridepulse.watch('bookings', '\(Self.mapping)')
      """)
    #expect(try await session.value(Self.problems) == "public.bookings  unread_ride")
    _ = try await backfill("bookings")
    #expect(try await session.value(Self.problems) == nil)
    #expect(try await session.value("select count(*) from ridepulse.rides") == "2")
  }

  @Test func `R66: a mapped column is dropped with CASCADE alone, and is named`() async throws {
    let error = await #expect(throws: PostgresError.self) {
      try await session.script("alter table bookings drop column status")
    }
    #expect(error?.server?.sqlState == "2BP01")
    try await session.script(
      """
      insert into bookings values ('r1', 'requested', 'c1');
      alter table bookings drop column status cascade;
      insert into bookings (id) values ('r2')
      """)
    #expect(try await session.value("select count(*) from bookings") == "2")
    #expect(try await session.value(Self.ride) == "r1 requested c1 UTC {}")
    #expect(
      try await session.value(Self.problems)
        == "public.bookings ridepulse_read_update missing_trigger, "
        + "public.bookings ridepulse_watch_update missing_trigger, "
        + "public.bookings status missing_column")
  }

  /// Backfills a table for the active states of these tests.
  func backfill(_ table: String) async throws -> TableBackfill.Counts {
    let counts = try await TableBackfill(
      session, table: table, active: ["requested", "driver_arrived"]
    ).run(isForced: true)
    return try #require(counts)
  }

  @Test func `a cast of the table's own that fails is recorded`() async throws {
    try await session.script(
      """
      create type pair as range (subtype = int4);
      create function broken(pair) returns json language plpgsql as $$
      begin raise exception 'no json today'; end $$;
      create cast (pair as json) with function broken(pair);
      select ridepulse.unwatch('bookings');
      alter table bookings alter column details type pair using '[1,2)'::pair;
      select ridepulse.watch('bookings', '\(Self.mapping)');
      insert into bookings values ('r1', 'requested', 'c1', null, null, null, '[1,2)')
      """)
    #expect(try await session.value(Self.errors) == " unreadable_row r1")
    #expect(
      try await session.value("select detail from ridepulse.watch_errors")
        == "SQLSTATE P0001: no json today")
  }

  @Test func `what is recorded stays small, and waits for no other transaction`() async throws {
    for _ in 1...3 {
      try await session.script("insert into bookings select null from generate_series(1, 100)")
    }
    let count = "select string_agg(count::text, ' ') from ridepulse.watch_errors"
    #expect(try await session.value(count) == "3")
    // The other transaction holds both rows of watch_errors, one of them not yet visible to others.
    var other = try await begin(
      "insert into bookings values (null); insert into bookings values ('')")
    try await session.script("insert into bookings values (''), (null)")
    try await other()
    #expect(try await session.value(count) == "4 1")
    // The other transaction uses a snapshot from before the insert.
    other = try await begin(
      "set transaction isolation level repeatable read; select count(*) from bookings",
      then: "insert into bookings values (null)")
    try await session.script("insert into bookings values (null)")
    try await other()
    #expect(try await session.value("select count(*) from bookings") == "306")
  }

  /// Begins a transaction in another session and keeps it open; the returned function lets it
  /// continue and commit.
  private func begin(
    _ sql: String, then next: String = ""
  ) async throws -> () async throws -> Void {
    let other = try PostgresSession(conninfo: url)
    try await session.script("select pg_advisory_lock(7)")
    let run = Task {
      try await other.script(
        "begin; \(sql); select pg_advisory_xact_lock(7); \(next); commit")
    }
    try await session.wait(
      until: """
        select count(*) from pg_locks l join pg_database d on d.oid = l.database
        where l.locktype = 'advisory' and not granted and d.datname = current_database()
        """, is: "1")
    return { [session] in
      try await session.script("select pg_advisory_unlock(7)")
      try await run.value
      await other.close()
    }
  }

  @Test func `a disabled trigger is named, and a table that is gone`() async throws {
    try await session.script(
      """
      alter table bookings disable trigger ridepulse_read;
      alter table ridepulse.rides disable trigger changed;
      insert into bookings values ('r1', 'requested')
      """)
    #expect(
      try await session.value(Self.problems)
        == "ridepulse.rides changed disabled_trigger, "
        + "public.bookings ridepulse_read disabled_trigger, public.bookings ridepulse_read not_read"
    )
    try await session.script(
      "alter table ridepulse.rides enable trigger changed; drop trigger ridepulse_watch on bookings"
    )
    #expect(
      try await session.value(Self.problems)?.contains("ridepulse_watch missing_trigger") == true)
    try await session.script("drop table bookings; delete from ridepulse.watch_errors")
    #expect(try await session.value(Self.problems)?.contains("missing_table") == true)
  }

  @Test func `partitions are served as their table is, each with its triggers`() async throws {
    try await session.script(
      """
      create table trips (id int, status text) partition by range (id);
      create table trips_1 partition of trips for values from (0) to (10);
      select ridepulse.watch('trips',
        '{"id": {"column": "id", "prefix": "t-"}, "state": "status"}');
      create table trips_2 partition of trips for values from (10) to (20);
      insert into trips values (1, 'requested'), (11, 'requested');
      insert into trips_1 values (2, 'requested');
      update trips set id = 12 where id = 2
      """)
    #expect(
      try await session.value("select string_agg(id, ' ' order by id) from ridepulse.rides")
        == "t-1 t-11 t-12")
    #expect(try await session.value(Self.problems) == nil)
    try await session.script("alter table trips_2 disable trigger ridepulse_watch")
    #expect(
      try await session.value(Self.problems) == "public.trips ridepulse_watch disabled_trigger")
  }

  @Test func `columns may have any name`() async throws {
    try await session.script(
      #"""
      create table "t ' 1" (id int, "we""ird 'name' $1; --" text);
      select ridepulse.watch('"t '' 1"', '{"id": {"column": "id", "prefix": "t"}, "state": "we\"ird ''name'' $1; --",
        "attributes": {"plate": "we\"ird ''name'' $1; --"}}');
      insert into "t ' 1" values (1, 'requested')
      """#)
    #expect(try await session.value(Self.ride) == #"t1 requested UTC {"plate": "requested"}"#)
    #expect(try await session.value(Self.problems) == nil)
  }

  @Test func `unwatch takes the triggers away and leaves the rides`() async throws {
    try await session.script(
      """
      insert into bookings values ('r1', 'requested');
      select ridepulse.unwatch('bookings');
      update bookings set status = 'driver_arrived'
      """)
    #expect(try await session.value(Self.ride) == "r1 requested UTC {}")
    #expect(try await session.value("select count(*) from ridepulse.watched") == "0")
    #expect(
      try await session.value(
        "select count(*) from pg_trigger where tgrelid = 'bookings'::regclass") == "0")
  }

  @Test func `replicated and restored rows fire nothing`() async throws {
    try await session.script(
      """
      set local session_replication_role = replica;
      insert into bookings values ('r1', 'requested')
      """)
    #expect(try await session.value(Self.ride) == nil)
    #expect(try await session.value(Self.problems) == nil)
    // A backfill copies live rows that have no ride yet, and sends nothing.
    _ = try await backfill("bookings")
    #expect(try await session.value(Self.ride) == "r1 requested UTC {}")
    #expect(
      try await session.value("select string_agg(event, ' ') from ridepulse.events")
        == "ride_watched")
  }
}
