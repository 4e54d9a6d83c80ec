import Testing

@testable import PostgresStore

/// Tests of what a mapping of `ridepulse.watch` can express, and of what it refuses.
@Suite("Mappings of attached tables", .timeLimit(.minutes(60))) struct WatchMappingTests {
  let session: PostgresSession
  let url: String

  init() async throws {
    url = try await migratedDatabase()
    session = try PostgresSession(conninfo: url)
    try await session.script(
      """
      create table bookings (id int primary key, status text, rider int, deleted_at timestamptz,
        lat float, j json, spot point);
      create table riders (id int primary key, name text);
      insert into riders values (1, 'Ana'), (2, 'Bea');
      """)
  }

  private func watch(_ mapping: String, table: String = "bookings") async throws(PostgresError) {
    try await session.script("select ridepulse.watch('\(table)', \(SQLText.literal(mapping)))")
  }

  private var rides: String? {
    get async throws {
      try await session.value(
        """
        select string_agg(concat_ws(' ', id, state, customer_id, time_zone, attributes), ', '
          order by id) from ridepulse.rides
        """)
    }
  }

  /// The events since the last call.
  private var events: String? {
    get async throws {
      try await session.value(
        """
        with gone as (delete from ridepulse.events returning *)
        select string_agg(ride_id || ' ' || event, ', ' order by id) from gone
        """)
    }
  }

  static let all = """
    {"id": {"column": "id", "prefix": "b-"}, "state": "status", "customer_id": "rider",
     "states": {"SEARCHING": "requested", "AT_DOOR": "driver_arrived"},
     "where": "deleted_at is null", "time_zone": {"constant": "Europe/Berlin"},
     "attributes": {"lat": "lat", "city": {"constant": "Berlin"}}}
    """

  @Test func `R64: states are renamed, IDs prefixed, constants filled in`() async throws {
    try await watch(Self.all)
    try await session.script("insert into bookings values (1, 'SEARCHING', 7), (2, 'other', 7)")
    #expect(
      try await rides == #"b-1 requested 7 Europe/Berlin {"lat": null, "city": "Berlin"}, "#
        + #"b-2 other 7 Europe/Berlin {"lat": null, "city": "Berlin"}"#)
    #expect(try await events == "b-1 requested, b-2 other")
    try await session.script("update bookings set status = 'AT_DOOR' where id = 1")
    #expect(try await events == "b-1 driver_arrived")
  }

  @Test func `R64: a row that leaves the condition, or is deleted, ends its ride`() async throws {
    try await watch(Self.all)
    try await session.script(
      """
      insert into bookings values (1, 'SEARCHING', 7), (2, 'SEARCHING', 7), (3, 'SEARCHING', 7);
      insert into bookings (id, status, deleted_at) values (4, 'SEARCHING', now());
      delete from ridepulse.events;
      update bookings set deleted_at = now() where id = 1;
      delete from bookings where id = 2;
      update bookings set id = 5 where id = 3;
      update bookings set status = 'AT_DOOR' where id in (1, 4);
      delete from bookings where id = 4
      """)
    #expect(
      try await events == "b-1 ride_removed, b-2 ride_removed, b-3 ride_removed, b-5 requested")
    #expect(try await session.value("select string_agg(id, ' ') from ridepulse.rides") == "b-5")
    try await session.script("update bookings set deleted_at = null where id = 1")
    #expect(try await events == "b-1 driver_arrived")
  }

  @Test func `R63: only a change of a mapped column fires the triggers`() async throws {
    try await watch(
      #"{"id": "id", "state": "status", "where": "deleted_at is null", "attributes": ["j"]}"#)
    try await session.script("insert into bookings values (1, 'requested')")
    // A trigger that fires fails now.
    try await session.script(
      """
      create or replace function ridepulse.watched() returns trigger language plpgsql as
        $$ begin raise exception 'fired'; end $$
      """)
    try await session.script(
      """
      update bookings set lat = 1, spot = '(1,2)', rider = 9;
      update bookings set status = status, j = null
      """)
    for change in ["status = 'x'", "deleted_at = now()", "j = '{}'", "id = 2"] {
      let error = await #expect(throws: PostgresError.self, "\(change)") {
        try await session.script("update bookings set \(change)")
      }
      #expect(error?.server?.message == "fired")
    }
  }

  @Test func `R63: what a trigger of the table's own changes is copied, too`() async throws {
    let trigger = """
      create function at_door() returns trigger language plpgsql as
        $$ begin if new.lat > 50 then new.status := 'driver_arrived'; end if; return new; end $$;
      create trigger at_door before update on bookings for each row execute function at_door();
      """
    try await watch(#"{"id": "id", "state": "status"}"#)
    #expect(try await session.value(WatchTests.problems) == nil)
    try await session.script(trigger)
    #expect(
      try await session.value(WatchTests.problems) == "public.bookings  late_trigger")
    try await watch(#"{"id": "id", "state": "status"}"#)
    #expect(try await session.value(WatchTests.problems) == nil)
    try await session.script(
      "insert into bookings values (1, 'requested'); update bookings set lat = 51")
    #expect(try await events == "1 requested, 1 driver_arrived")
  }

  @Test func `R64: a row without a ride that changes only its data is announced to nobody`()
    async throws
  {
    try await session.script(
      "insert into bookings (id, status) values (1, 'ride_completed'), (2, 'requested')")
    try await watch(#"{"id": "id", "state": "status", "customer_id": "rider"}"#)
    #expect(try await rides == nil)
    try await session.script("update bookings set rider = 8 where id = 1")
    #expect(try await events == "1 ride_watched")
    try await session.script("update bookings set status = 'driver_arrived' where id = 2")
    #expect(try await events == "2 driver_arrived")
  }

  @Test func `R64: a function of the row joins tables, and reads the columns that it names`()
    async throws
  {
    try await session.script(
      """
      create function public.as_ride(b bookings) returns ridepulse.rides language sql stable as $$
        select (b.id::text, b.status, b.rider::text, null, null, 'UTC',
          jsonb_build_object('name', r.name), null)::ridepulse.rides
        from public.riders r where r.id = b.rider $$
      """)
    try await watch(
      """
      {"ride": "public.as_ride", "columns": ["status", "rider"], "id": {"prefix": "b-"},
       "states": {"S": "requested"}, "where": "r.deleted_at is null"}
      """)
    try await session.script(
      """
      insert into bookings values (1, 'S', 1), (2, 'S', 99);
      update bookings set rider = 2 where id = 1;
      update bookings set lat = 1
      """)
    #expect(try await rides == #"b-1 requested 2 UTC {"name": "Bea"}"#)
    #expect(try await events == "b-1 requested, b-1 ride_updated")
    try await session.script("drop function public.as_ride; update bookings set rider = 1")
    #expect(try await rides == #"b-1 requested 2 UTC {"name": "Bea"}"#)
    #expect(
      try await session.value(WatchTests.problems)
        == "public.bookings  missing_function, public.bookings  unread_ride, "
        + "public.bookings  unusable_mapping")
  }

  @Test func `R64: a ride function is not called for a row that does not meet the condition`()
    async throws
  {
    try await session.script(
      """
      create table calls (id int);
      create function public.as_ride(b bookings) returns ridepulse.rides language plpgsql as $$
      declare ride ridepulse.rides;
      begin
        insert into public.calls values (b.id);
        ride.id := b.id; ride.state := b.status; ride.attributes := '{}';
        return ride;
      end $$
      """)
    try await watch(
      #"{"ride": "public.as_ride", "id": {"prefix": "b-"}, "where": "deleted_at is null"}"#)
    try await session.script(
      """
      insert into bookings (id, status, deleted_at) select n, 'requested', now()
      from generate_series(1, 20) n;
      update bookings set lat = 1
      """)
    #expect(try await session.value("select count(*) from calls") == "0")
    #expect(try await rides == nil)
    try await session.script("update bookings set deleted_at = null where id = 1")
    #expect(try await session.value("select count(*) from calls") == "1")
    #expect(try await rides == "b-1 requested UTC {}")
    try await session.script("update bookings set deleted_at = now() where id = 1")
    #expect(try await rides == nil)
  }

  @Test func `R64: a ride whose row can be read again and leaves the condition is removed`()
    async throws
  {
    try await session.script(
      """
      create function public.as_ride(b bookings) returns ridepulse.rides language plpgsql as $$
      declare ride ridepulse.rides;
      begin
        ride.id := b.id; ride.state := b.status; ride.customer_id := b.lat::int / b.lat::int;
        ride.attributes := '{}';
        return ride;
      end $$
      """)
    try await watch(
      #"{"ride": "public.as_ride", "id": {"prefix": "b-"}, "where": "deleted_at is null"}"#)
    try await session.script("insert into bookings (id, status, lat) values (1, 'requested', 1)")
    try await session.script("update bookings set lat = 0")
    #expect(try await session.value("select ride_id from ridepulse.unread_rides") == "b-1")
    try await session.script("update bookings set lat = 2, deleted_at = now()")
    #expect(try await rides == nil)
    #expect(try await session.value("select ride_id from ridepulse.unread_rides") == nil)
  }

  @Test func `R64: tables of any name and schema have readers of their own, which go with unwatch`()
    async throws
  {
    let mapping = #"{"id": {"column": "id", "prefix": "PREFIX"}, "state": "status"}"#
    func of(_ prefix: String) -> String { mapping.replacing("PREFIX", with: prefix) }
    try await session.script(
      """
      create schema "Odd ""Schema";
      create table "Odd ""Schema"."Trips" (id int, status text);
      create table renamed (id int, status text)
      """)
    try await watch(of("o-"), table: #""Odd ""Schema"."Trips""#)
    try await watch(of("a-"), table: "renamed")
    try await session.script(
      "alter table renamed rename to former; create table renamed (id int, status text)")
    try await watch(of("b-"), table: "renamed")
    try await session.script(
      """
      insert into former values (1, 'requested'); insert into renamed values (1, 'requested');
      insert into "Odd ""Schema"."Trips" values (1, 'requested')
      """)
    #expect(
      try await session.value("select string_agg(id, ' ' order by id) from ridepulse.rides")
        == "a-1 b-1 o-1")
    let readers = "select count(*) from pg_proc where proname like 'ridepulse\\_read\\_%'"
    #expect(try await session.value(readers) == "3")
    try await watch(of("b-"), table: "renamed")
    #expect(try await session.value(readers) == "3")
    for table in ["former", "renamed", #""Odd ""Schema"."Trips""#] {
      try await session.script("select ridepulse.unwatch('\(table)')")
    }
    #expect(try await session.value(readers) == "0")
  }

  @Test
  func `R64: a session that has read rows sees that a column was renamed, and removes no ride`()
    async throws
  {
    try await watch(
      #"{"id": "id", "state": "status", "customer_id": "rider", "where": "deleted_at is null"}"#)
    try await session.script(
      "insert into bookings (id, status) values (1, 'requested'); update bookings set rider = 7")
    try await session.script(
      "alter table bookings rename column deleted_at to gone_at; update bookings set rider = 8")
    #expect(try await rides == "1 requested 7 UTC {}")
    #expect(
      try await session.value(WatchTests.problems)
        == "public.bookings  unread_ride, public.bookings  unusable_mapping")
  }

  @Test func `R64: a row that moves to another partition is the same ride`() async throws {
    try await session.script(
      """
      create table trips (id bigint, status text, rider text) partition by list (status);
      create table trips_new partition of trips for values in ('requested');
      create table trips_old partition of trips default
      """)
    try await watch(#"{"id": "id", "state": "status", "customer_id": "rider"}"#, table: "trips")
    try await session.script("insert into trips values (1, 'requested', 'c1')")
    #expect(try await events == "1 requested")
    try await session.script("update trips set status = 'driver_arrived'")
    #expect(try await events == "1 ride_watched, 1 driver_arrived")
    try await session.script("delete from trips")
    #expect(try await events == "1 ride_removed")
  }

  @Test func `R64: no table overwrites the rides of another`() async throws {
    try await session.script("create table shuttles (id text, status text)")
    try await watch(#"{"id": {"column": "id", "prefix": "a-"}, "state": "status"}"#)
    let error = await #expect(throws: PostgresError.self) {
      try await watch(
        #"{"id": {"column": "id", "prefix": "a-"}, "state": "status"}"#, table: "shuttles")
    }
    #expect(error?.server?.message.contains("public.bookings is attached with the same") == true)
    #expect(error?.server?.hint?.contains("prefix") == true)
    try await watch(#"{"id": "id", "state": "status"}"#, table: "shuttles")
    try await session.script(
      """
      insert into bookings values (1, 'requested');
      insert into shuttles values ('a-1', 'cancelled'), ('2', 'requested');
      update shuttles set id = 'a-1' where id = '2';
      delete from shuttles
      """)
    #expect(try await rides == "a-1 requested UTC {}")
    #expect(
      try await session.value(WatchTests.problems) == "public.shuttles id foreign_id")
    // The prefix of a table that is gone is free.
    try await session.script("drop table bookings")
    try await watch(
      #"{"id": {"column": "id", "prefix": "a-"}, "state": "status"}"#, table: "shuttles")
  }

  @Test(arguments: [
    (#"{"id": "id", "statee": "status"}"#, #"unknown key "statee""#, #"Did you mean "state"?"#),
    (#"{"id": "id", "state": "statsu"}"#, "has no column statsu", "Did you mean status?"),
    (#"{"id": "id"}"#, #"at least "id" and "state""#, "such as"),
    (#"{"id": {"constant": "1"}, "state": "status"}"#, "names no column", "no constant"),
    (#"{"id": {"column": "id", "prefx": "b"}, "state": "status"}"#, "prefx", "prefix"),
    (#"{"id": "id", "state": "status", "states": {"A": 1}}"#, #""states" can't be"#, "Such as"),
    (#"{"id": "id", "state": "status", "where": "nope is null"}"#, "nope", #"Check "where""#),
    (#"{"id": "id", "state": "status", "where": "lat"}"#, "boolean", #"Check "where""#),
    (#"{"id": "id", "state": "status", "time_zone": {"constant": "Mars"}}"#, "Mars", "IANA"),
    (#"{"id": "id", "state": "status", "pickup_at": {"constant": "soon"}}"#, "soon", "Such as"),
    (#"{"ride": "public.nothing"}"#, "no function public.nothing", "create function"),
    (#"{"ride": "pg_catalog.to_jsonb"}"#, "no function", "create function"),
    (#"{"ride": "public.f", "state": "status"}"#, #"with "ride""#, "prefix alone"),
    ("7", #"at least "id" and "state""#, "such as"),
  ])
  func `R64: a mapping that can't work is refused with what to do`(
    mapping: String, message: String, hint: String
  ) async throws {
    let error = await #expect(throws: PostgresError.self) { try await watch(mapping) }
    #expect(error?.server?.message.contains(message) == true, "\(String(describing: error))")
    #expect(error?.server?.hint?.contains(hint) == true, "\(String(describing: error?.server))")
    #expect(try await session.value("select count(*) from ridepulse.watches") == "0")
    #expect(
      try await session.value(
        "select count(*) from pg_trigger where tgrelid = 'bookings'::regclass") == "0")
  }

  @Test func `R61: watch does not queue writers behind a transaction that stays open`()
    async throws
  {
    let writer = try PostgresSession(conninfo: url)
    let other = try PostgresSession(conninfo: url)
    try await session.script("insert into bookings values (1, 'requested')")
    try await session.script("select pg_advisory_lock(7)")
    let open = Task {
      try await writer.script(
        "begin; update bookings set lat = 1; select pg_advisory_xact_lock(7); commit")
    }
    try await session.wait(
      until: waitingForAdvisoryLock, is: "1")
    // It gives up after some seconds, and the machine may stall for longer.
    let attach = Task {
      var error: PostgresError?
      repeat {
        error = await other.begin(
          #"select ridepulse.watch('bookings', '{"id": "id", "state": "status"}')"#
        ).value.failure
      } while error?.server?.sqlState == "55P03"
      return error
    }
    try await session.wait(
      until: """
        select count(*) from pg_stat_activity
        where datname = current_database() and state = 'active'
          and query like 'select ridepulse.watch%'
        """, is: "1")
    // A request that waits is withdrawn: writers that come later are not blocked for long.
    for number in 2...4 {
      try await session.script(
        "set local lock_timeout = '8s'; insert into bookings values (\(number), 'requested')")
    }
    try await session.script("select pg_advisory_unlock(7)")
    try await open.value
    #expect(await attach.value == nil)
    #expect(try await session.value("select count(*) from ridepulse.watched") == "1")
    await writer.close()
    await other.close()
  }
}
