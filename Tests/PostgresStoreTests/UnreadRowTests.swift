import RideCore
import Testing

@testable import PostgresStore

/// Tests of rows of attached tables that can't be read, and of tables whose triggers do not see
/// what is written.
@Suite("Unread rows of attached tables", .timeLimit(.minutes(60))) struct UnreadRowTests {
  let session: PostgresSession
  let url: String

  private static let mapping = """
    {"id": {"column": "id", "prefix": "b-"}, "state": "status", "where": "1 / divisor is not null"}
    """

  init() async throws {
    url = try await migratedDatabase()
    session = try PostgresSession(conninfo: url)
    try await session.script(
      "create table bookings (id int primary key, status text, divisor int default 1)")
  }

  private func watch(_ mapping: String = mapping) async throws {
    try await session.script("select ridepulse.watch('bookings', \(SQLText.literal(mapping)))")
    try await session.script("insert into bookings values (1, 'requested'), (2, 'requested')")
    try await session.script("delete from ridepulse.events")
  }

  private var unread: String? {
    get async throws {
      try await session.value(
        "select string_agg(ride_id || ' ' || sqlstate, ', ' order by ride_id) from ridepulse.unread_rides"
      )
    }
  }

  private func isUnread(_ id: String) async throws -> Bool? {
    try await RideQueries(session: session).history(of: id).ride?.isUnread
  }

  private static let asRide = """
    create function public.as_ride(b bookings) returns ridepulse.rides language sql stable as $$
      select (b.id::text, b.status, (1 / b.divisor)::text, null, null, 'UTC', '{}', null)
        ::ridepulse.rides $$
    """

  @Test(arguments: [mapping, #"{"ride": "public.as_ride", "id": {"prefix": "b-"}}"#])
  func `U8: the row is named, and its ride marked until it is read again`(mapping: String)
    async throws
  {
    try await session.script(Self.asRide)
    try await watch(mapping)
    try await session.script(
      "update bookings set divisor = 0, status = 'driver_arrived' where id = 1")
    let error = "SQLSTATE 22012: division by zero"
    #expect(
      try await session.value(
        "select row_id || ' ' || problem || ' ' || detail from ridepulse.watch_errors")
        == "b-1 unreadable_row \(error)")
    #expect(try await unread == "b-1 22012")
    #expect(try await isUnread("b-1") == true)
    #expect(try await isUnread("b-2") == false)
    let problem =
      "select row_id || ' ' || count from ridepulse.watch_problems where problem = 'unread_ride'"
    #expect(try await session.value(problem) == "b-1 1")
    #expect(
      try await session.value("select state from ridepulse.rides where id = 'b-1'") == "requested")
    // The old row can't be read even now.
    try await session.script("update bookings set divisor = 1 where id = 1")
    #expect(try await unread == nil)
    #expect(try await session.value(problem) == nil)
    #expect(
      try await session.value("select string_agg(event, ' ' order by id) from ridepulse.events")
        == "ride_watched driver_arrived")
  }

  @Test func `U8: a row that is read again without a change puts its ride on the agenda`()
    async throws
  {
    try await watch()
    try await session.script("update bookings set divisor = 0 where id = 1")
    try await session.script("update bookings set divisor = 1 where id = 1")
    #expect(
      try await session.value(
        "select string_agg(ride_id || ' ' || event, ' ') from ridepulse.events")
        == "b-1 ride_watched")
    #expect(try await isUnread("b-1") == false)
  }

  @Test func `U8: a deleted row, a backfill and unwatch end the mark`() async throws {
    try await watch()
    try await session.script("update bookings set divisor = 0")
    try await session.script("delete from bookings where id = 1")
    #expect(try await session.value("select string_agg(id, ' ') from ridepulse.rides") == "b-2")
    #expect(try await unread?.hasPrefix("b-2 ") == true)
    try await session.script(
      "set local session_replication_role = replica; update bookings set divisor = 1")
    _ = try await TableBackfill(session, table: "bookings", active: ["requested"]).run(
      isForced: true)
    #expect(try await unread == nil)
    try await session.script("update bookings set divisor = 0")
    #expect(try await unread != nil)
    try await session.script("select ridepulse.unwatch('bookings')")
    #expect(try await unread == nil)
  }

  @Test func `U8: a composite key names a row, too`() async throws {
    try await session.script(
      """
      \(Self.asRide);
      alter table bookings drop constraint bookings_pkey, add primary key (id, status)
      """)
    try await watch(#"{"ride": "public.as_ride", "id": {"prefix": "b-"}}"#)
    try await session.script("insert into bookings values (3, 'requested', 0)")
    #expect(
      try await session.value("select row_id from ridepulse.watch_errors") == #"[3, "requested"]"#)
  }

  @Test func `A11: a table that was renamed and replaced is reported`() async throws {
    try await watch()
    let problems = """
      select string_agg("table" || ' ' || problem || ' ' || detail, ', ') from ridepulse.watch_problems
      """
    try await session.script("alter table bookings rename to old_bookings")
    #expect(try await session.value(problems) == nil)
    try await session.script("create table bookings (like old_bookings including all)")
    #expect(
      try await session.value(problems) == "public.old_bookings replaced_table public.bookings")
    try await session.script("select ridepulse.watch('old_bookings', '\(Self.mapping)')")
    #expect(try await session.value(problems) == nil)
    try await session.script(
      "alter table old_bookings rename to older; alter table bookings rename to old_bookings")
    #expect(
      try await session.value(problems) == "public.older replaced_table public.old_bookings")
    try await session.script(
      "select ridepulse.unwatch('older'); select ridepulse.watch('old_bookings', '\(Self.mapping)')"
    )
    #expect(try await session.value(problems) == nil)
  }

  @Test func `A1: a trigger that a dump can't restore is reported, and watch makes it again`()
    async throws
  {
    try await watch(#"{"id": "id", "state": "status"}"#)
    // As programs before this one made it.
    try await session.script(
      """
      create function read_row() returns trigger language plpgsql as $$ begin return null; end $$;
      create or replace trigger ridepulse_read_update after update on bookings for each row
        execute function read_row('', '')
      """)
    #expect(
      try await session.value(WatchTests.problems)
        == "public.bookings ridepulse_read_update old_trigger")
    try await session.script(
      """
      select ridepulse.watch("table", mapping) from ridepulse.watched
      where "table" = 'public.bookings'::regclass
      """)
    #expect(try await session.value(WatchTests.problems) == nil)
    #expect(
      try await session.value(
        """
        select string_agg(g.tgname, ', ' order by g.tgname) from pg_trigger g
        where g.tgrelid = 'bookings'::regclass and pg_get_triggerdef(g.oid) ~ 'record_image_ne'
        """) == "ridepulse_read_update, ridepulse_watch_update")
  }
}
