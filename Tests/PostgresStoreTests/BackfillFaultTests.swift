import Testing

@testable import PostgresStore

/// Tests of what a backfill must not run, and of what must not stop it.
@Suite("Faults in a backfill", .timeLimit(.minutes(60))) struct BackfillFaultTests {
  let session: PostgresSession
  let url: String

  init() async throws {
    url = try await migratedDatabase()
    session = try PostgresSession(conninfo: url)
  }

  private static let mapping = """
    {"id": {"column": "id", "prefix": "b-"}, "state": "status"}
    """

  private func watch(_ table: String, _ mapping: String = Self.mapping) async throws {
    try await session.script("select ridepulse.watch('\(table)', \(SQLText.literal(mapping)))")
  }

  private func backfill(
    _ table: String, isForced: Bool = true
  ) async throws(PostgresError) -> TableBackfill.Counts? {
    try await TableBackfill(session, table: table, active: ["requested"]).run(isForced: isForced)
  }

  @Test func `R62: a cast of an enum in the key is code of the table's owner`() async throws {
    try await session.script(
      """
      create type kind as enum ('a');
      create table trips (kind kind primary key, id int, status text);
      insert into trips values ('a', 1, 'requested')
      """)
    try await watch("trips")
    let runs = "select ridepulse.runs_owner_code('trips')"
    #expect(try await session.value(runs) == "f")
    try await session.script(
      """
      create function as_json(kind) returns json language plpgsql as $$
      begin raise exception 'ran'; end $$;
      create cast (kind as json) with function as_json(kind)
      """)
    #expect(try await session.value(runs) == "t")
  }

  @Test func `R62: a function in an index is code of the table's owner`() async throws {
    try await session.script(
      """
      create table trips (id int primary key, status text);
      create index on trips ((id + 1)) where status = 'requested'
      """)
    try await watch("trips")
    let runs = "select ridepulse.runs_owner_code('trips')"
    #expect(try await session.value(runs) == "f")
    try await session.script(
      """
      create function one(int) returns int immutable language sql as 'select 1';
      create index on trips ((public.one(1)))
      """)
    #expect(try await session.value(runs) == "t")
  }

  @Test func `R62: a schema that the role may not use is named, not an error`() async throws {
    let role = "reader_\(UInt32.random(in: 0 ... .max))"
    try await session.script(
      """
      create schema away;
      create table away.trips (id int primary key, status text);
      create role \(role) login;
      grant usage on schema ridepulse to \(role);
      grant select on ridepulse.watched to \(role)
      """)
    try await watch("away.trips")
    let own = try PostgresSession(conninfo: url + " user=\(role)")
    let pending = try #require(try await BackfillRights.pendingTables(own).first)
    #expect(pending.name == "away.trips")
    let rights = try #require(try await BackfillRights.read(own, table: pending.oid))
    #expect(rights.grants.first == "grant usage on schema \"away\" to \"\(role)\"")
    await own.close()
    try await session.script("drop owned by \(role); drop role \(role)")
  }

  @Test func `R62: padding of char(n) is no part of an ID or a state`() async throws {
    try await session.script(
      """
      create table trips (id char(8) primary key, status char(12));
      insert into trips values ('AB', 'requested')
      """)
    try await watch("trips")
    #expect(try await backfill("trips")?.inserted == 1)
    try await session.script("insert into trips values ('CD', 'requested')")
    #expect(
      try await session.value(
        "select string_agg(id || ' ' || state, ', ' order by id) from ridepulse.rides")
        == "b-AB requested, b-CD requested")
  }

  @Test func `R63: a ride function sees a column that is added later`() async throws {
    try await session.script(
      """
      create table trips (id int primary key, status text);
      create function as_ride(t trips) returns ridepulse.rides language sql stable as $$
        select (t.id, t.status, to_jsonb(t) ->> 'rider', null, null, 'UTC', '{}', null)
          ::ridepulse.rides $$
      """)
    try await watch("trips", #"{"ride": "public.as_ride", "id": {"prefix": "b-"}}"#)
    try await session.script(
      """
      insert into trips values (1, 'requested');
      alter table trips add column rider text;
      update trips set rider = 'c1'
      """)
    #expect(try await session.value("select customer_id from ridepulse.rides") == "c1")
  }

  @Test func `R65: a row that can't be read is left out, and recorded`() async throws {
    try await session.script(
      """
      create table trips (id int primary key, status text, divisor int);
      insert into trips select n, 'requested', n - 3 from generate_series(1, 500) n;
      create function quotient(int) returns bool language plpgsql as $$
      begin return 1 / $1 < 2; end $$
      """)
    // The function fails for one row, and only when the row is read by its key.
    try await watch(
      "trips",
      """
      {"id": {"column": "id", "prefix": "b-"}, "state": "status", "where": "divisor is not null"}
      """)
    try await session.script(
      """
      update ridepulse.watches set condition = 'case when current_query() like ''%backfill_batch%'' '
        || 'then public.quotient(divisor) else true end'
      """)
    let counts = try #require(try await backfill("trips"))
    #expect(counts.inserted == 499)
    #expect(counts.unread == 1)
    #expect(
      try await session.value("select row_id || ' ' || problem from ridepulse.watch_errors")
        == "b-3 unreadable_row")
  }

  @Test func `R65: a backfill that failed may begin again at once`() async throws {
    try await session.script("create table trips (id int primary key, status text)")
    try await watch("trips")
    try await session.script("update ridepulse.watches set condition = 'nothing'")
    await #expect(throws: PostgresError.self) { _ = try await backfill("trips", isForced: false) }
    try await session.script("update ridepulse.watches set condition = null")
    #expect(try await backfill("trips", isForced: false) != nil)
  }
}
