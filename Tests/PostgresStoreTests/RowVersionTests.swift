import Testing

@testable import PostgresStore

/// Tests that what is copied is the row as it is, whatever triggers, moves and errors come between.
@Suite("Row versions of attached tables", .timeLimit(.minutes(60))) struct RowVersionTests {
  let session: PostgresSession

  init() async throws {
    session = try PostgresSession(conninfo: try await migratedDatabase())
    try await session.script(
      """
      create table bookings (id int primary key, status text, rider text, fare int, seen_at int,
        pickup text, notes text);
      select ridepulse.watch('bookings', '{"id": {"column": "id", "prefix": "b-"}, "state": "status",
        "customer_id": "rider", "attributes": ["fare"], "where": "seen_at / seen_at = 1 is not false",
        "pickup_at": {"column": "pickup", "time_zone": "UTC"}}')
      """)
  }

  private var rides: String? {
    get async throws {
      try await session.value(
        """
        select string_agg(concat_ws(' ', id, state, attributes ->> 'fare'), ', ' order by id)
        from ridepulse.rides
        """)
    }
  }

  /// The events since the last call, except those that only put a ride on the agenda.
  private var events: String? {
    get async throws {
      try await session.value(
        """
        with gone as (delete from ridepulse.events returning *)
        select string_agg(ride_id || ' ' || event, ', ' order by id) from gone
        where event <> 'ride_watched'
        """)
    }
  }

  /// Creates a trigger of the app's own that runs a statement once for each row.
  private func trigger(_ name: String, _ events: String, _ statement: String) async throws {
    try await session.script(
      """
      create function \(name)() returns trigger language plpgsql as $$
      begin if pg_trigger_depth() = 1 then \(statement); end if; return null; end $$;
      create trigger \(name) after \(events) on bookings for each row execute function \(name)()
      """)
  }

  // Names that sort before and after those of RidePulse.
  @Test(arguments: ["app", "zz"])
  func `A9: a trigger that updates the row again`(name: String) async throws {
    try await trigger(
      name, "update",
      "update bookings set status = 'driver_arrived', fare = 7 where id = new.id and fare is null")
    try await session.script(
      """
      insert into bookings values (1, 'requested', 'c1');
      update bookings set status = 'driver_assigned'
      """)
    #expect(try await rides == "b-1 driver_arrived 7")
    let between = name == "app" ? "" : "b-1 driver_assigned, "
    #expect(try await events == "b-1 requested, \(between)b-1 driver_arrived")
    #expect(try await session.value(WatchTests.problems) == nil)
  }

  @Test func `A9: a trigger that updates only what is not mapped, or not the state`() async throws {
    try await trigger(
      "app", "insert or update",
      """
      update bookings set notes = 'seen' where id = new.id;
      update bookings set seen_at = 1 where id = new.id;
      update bookings set fare = coalesce(fare, 0) + 1 where id = new.id
      """)
    try await session.script("insert into bookings values (1, 'requested', 'c1')")
    #expect(try await rides == "b-1 requested 1")
    #expect(try await events == "b-1 requested")
    try await session.script("update bookings set status = 'driver_arrived'")
    #expect(try await rides == "b-1 driver_arrived 2")
    #expect(try await events == "b-1 driver_arrived")
    try await session.script("update bookings set rider = 'c2'")
    #expect(try await events == "b-1 ride_updated")
  }

  @Test func `A9: a trigger that deletes the row, or inserts it again`() async throws {
    try await trigger("app", "insert", "delete from bookings where id = new.id and fare = 0")
    try await trigger(
      "back", "delete", "insert into bookings values (old.id, 'driver_arrived', old.rider, 5)")
    try await session.script(
      """
      insert into bookings values (1, 'requested', 'c1', 0), (2, 'requested', 'c1', 1);
      delete from bookings where id = 2
      """)
    #expect(try await rides == "b-2 driver_arrived 5")
    #expect(try await events == "b-2 requested, b-2 driver_arrived")
  }

  @Test func `A9: a row that was locked, and one whose key a trigger changes`() async throws {
    try await trigger(
      "app", "update", "update bookings set id = 9 where id = new.id and status = 'renumbered'")
    try await session.script(
      """
      insert into bookings values (1, 'requested', 'c1'), (2, 'requested', 'c2');
      begin; select from bookings for update; update bookings set status = 'driver_arrived'; commit;
      update bookings set status = 'renumbered' where id = 2
      """)
    #expect(try await rides == "b-1 driver_arrived, b-9 renumbered")
    #expect(
      try await events == "b-1 requested, b-2 requested, b-1 driver_arrived, b-2 driver_arrived, "
        + "b-2 ride_removed, b-9 renumbered")
  }

  /// Ways of moving rows of `trips` to another partition, each in one or more transactions.
  private static let moves = [
    ["update trips set is_old = true"],
    [
      "with d as (delete from trips returning *) insert into trips select id, status, rider, true from d"
    ],
    ["\(copy); delete from trips; \(insert)"],
    [copy, "delete from trips", insert],
  ]

  private static let copy = "create temp table kept as select * from trips"
  private static let insert = "insert into trips select id, status, rider, true from kept"

  @Test(arguments: moves)
  func `A3: a row that moves is not a new ride`(move: [String]) async throws {
    try await session.script(
      """
      create table trips (id int, status text, rider text, is_old bool, primary key (id, is_old))
        partition by list (is_old);
      create table trips_new partition of trips for values in (false);
      create table trips_old partition of trips for values in (true);
      select ridepulse.watch('trips',
        '{"id": {"column": "id", "prefix": "t-"}, "state": "status", "customer_id": "rider"}');
      insert into trips select n, 'ride_completed', 'c1', false from generate_series(1, 50) n
      """)
    #expect(try await events?.contains("t-50 ride_completed") == true)
    // What retention does.
    try await session.script("delete from ridepulse.rides")
    for transaction in move { try await session.script(transaction) }
    #expect(try await session.value("select count(*) from trips_old") == "50")
    #expect(try await events == nil)
    #expect(try await rides == nil)
    // A row that is new, and one that has another state than before, are rides.
    try await session.script(
      """
      insert into trips values (51, 'ride_completed', 'c1', true);
      delete from trips where id = 50;
      insert into trips values (50, 'no_show', 'c1', true)
      """)
    #expect(try await events == "t-51 ride_completed, t-50 no_show")
  }

  @Test(arguments: [
    "currval('public.numbers')::int", "public.fails('08006')", "public.fails('25006')",
    "public.fails('53400')", "public.fails('55000')", "public.fails('57P99')",
    "public.fails('58030')",
    "public.fails('XX000')", "public.fails('40002')", "public.asserts()",
  ])
  func `A15: an error of the mapping never fails a write`(condition: String) async throws {
    try await session.script(
      """
      create sequence numbers;
      create function fails(code text) returns int language plpgsql as $$
      begin raise exception 'no' using errcode = code; end $$;
      create function asserts() returns int language plpgsql as $$
      begin assert false; return 1; end $$;
      create table trips (id int primary key, status text);
      select ridepulse.watch('trips', $m${"id": {"column": "id", "prefix": "t-"}, "state": "status",
        "where": "\(condition) > 0"}$m$)
      """)
    try await session.script("insert into trips values (1, 'requested')")
    #expect(
      try await session.value("select problem || ' ' || row_id from ridepulse.watch_errors")
        == "unreadable_row t-1")
  }

  @Test(arguments: ["40001", "40P01", "53200", "55P03", "57P01"])
  func `A15: an error that a repetition may fix reaches the writer`(code: String) async throws {
    try await session.script(
      """
      create function fails() returns int language plpgsql as $$
      begin raise exception 'again' using errcode = '\(code)'; end $$;
      create table trips (id int primary key, status text);
      select ridepulse.watch('trips', '{"id": {"column": "id", "prefix": "t-"}, "state": "status",
        "where": "public.fails() > 0"}')
      """)
    let error = await #expect(throws: PostgresError.self) {
      try await session.script("insert into trips values (1, 'requested')")
    }
    #expect(error?.server?.sqlState == code)
  }

  @Test(arguments: [
    "tomorrow", "now", "TODAY 10:00", "yesterday 10:00+01", "epoch", "infinity", "-infinity",
    "10:00 tomorrow", "now10:00Z",
  ])
  func `A20: a word that Postgres reads as a time is not a time`(word: String) async throws {
    try await session.script("insert into bookings values (1, 'requested', 'c1', 1, 1, '\(word)')")
    #expect(try await session.value("select pickup_at from ridepulse.rides") == nil)
    #expect(
      try await session.value("select column_name || ' ' || problem from ridepulse.watch_errors")
        == "pickup bad_time")
  }

  @Test func `A20: columns may have the names that the queries use`() async throws {
    try await session.script(
      """
      create table trips ("ridepulse.k" int primary key, "ridepulse.x" text, r timestamptz, x int);
      create function as_ride(t trips) returns ridepulse.rides language sql stable as $$
        select (t."ridepulse.k"::text, t."ridepulse.x", null, null, t.r, 'UTC', '{}', null)
          ::ridepulse.rides $$;
      select ridepulse.watch('trips', '{"id": {"column": "ridepulse.k", "prefix": "t-"},
        "state": "ridepulse.x", "pickup_at": "r", "attributes": ["x"]}');
      insert into trips values (1, 'requested', 'infinity', 7);
      delete from ridepulse.rides
      """)
    let counts = try await TableBackfill(session, table: "trips", active: ["requested"])
      .run(isForced: true)
    #expect(counts?.inserted == 1)
    let ride =
      "select id || ' ' || state || ' ' || pickup_at || ' ' || attributes from ridepulse.rides"
    #expect(try await session.value(ride) == #"t-1 requested infinity {"x": 7}"#)
    try await session.script(
      """
      select ridepulse.watch('trips', '{"ride": "public.as_ride", "id": {"prefix": "t-"}}');
      update trips set "ridepulse.x" = 'driver_arrived'
      """)
    #expect(try await session.value(ride) == "t-1 driver_arrived infinity {}")
    #expect(try await session.value(WatchTests.problems) == nil)
  }
}
