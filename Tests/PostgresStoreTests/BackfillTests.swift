import TestSupport
import Testing

@testable import PostgresStore

/// Tests of the backfill of attached tables.
@Suite("Backfill of attached tables", .timeLimit(.minutes(60))) struct BackfillTests {
  let session: PostgresSession
  let url: String

  init() async throws {
    url = try await migratedDatabase()
    session = try PostgresSession(conninfo: url)
    try await session.script(
      """
      create table bookings (id bigint primary key, status text, rider text, deleted_at timestamptz);
      insert into bookings select n, case when n <= 3 then 'SEARCHING' else 'DONE' end, 'c' || n
      from generate_series(1, 1000) n
      """)
  }

  private static let mapping = """
    {"id": {"column": "id", "prefix": "b-"}, "state": "status", "customer_id": "rider",
     "states": {"SEARCHING": "requested", "DONE": "ride_completed"}, "where": "deleted_at is null"}
    """

  private func watch(_ mapping: String = Self.mapping, table: String = "bookings") async throws {
    try await session.script("select ridepulse.watch('\(table)', \(SQLText.literal(mapping)))")
  }

  private func backfill(
    _ table: String = "bookings", patience: Duration = TestSupport.patience, isForced: Bool = true
  ) async throws(PostgresError) -> TableBackfill.Counts? {
    let own = try PostgresSession(conninfo: url)
    let result: Result<TableBackfill.Counts?, PostgresError>
    do throws(PostgresError) {
      result = .success(
        try await TableBackfill(
          own, table: table, active: ["requested", "driver_arrived"], patience: patience
        ).run(isForced: isForced))
    } catch {
      result = .failure(error)
    }
    await own.close()
    return try result.get()
  }

  private func pendingTables(
    _ active: Set<String> = ["requested", "driver_arrived"]
  ) async throws -> [String] {
    try await BackfillRights.pendingTables(session, active: active).map(\.name)
  }

  private func counts(
    _ inserted: Int64, _ refreshed: Int64 = 0, _ removed: Int64 = 0, _ unmatched: Int64 = 0
  ) -> TableBackfill.Counts {
    var counts = TableBackfill.Counts()
    counts.inserted = inserted
    counts.refreshed = refreshed
    counts.removed = removed
    counts.unmatched = unmatched
    return counts
  }

  private var rides: String? {
    get async throws {
      try await session.value(
        "select string_agg(concat_ws(' ', id, state, customer_id), ', ' order by id) from ridepulse.rides"
      )
    }
  }

  private var events: String? {
    get async throws {
      try await session.value(
        """
        with gone as (delete from ridepulse.events returning *)
        select string_agg(distinct ride_id || ' ' || event, ', ') from gone
        """)
    }
  }

  @Test func `R62: only live rows are copied, without a push`() async throws {
    try await watch()
    #expect(try await rides == nil)
    #expect(try await pendingTables() == ["public.bookings"])
    #expect(try await backfill() == counts(3))
    #expect(
      try await rides == "b-1 requested c1, b-2 requested c2, b-3 requested c3")
    #expect(try await events == "b-1 ride_watched, b-2 ride_watched, b-3 ride_watched")
    #expect(try await pendingTables() == [])
    #expect(try await session.value("select is_backfilled from ridepulse.watched") == "t")
    #expect(try await backfill(isForced: false) == nil)
    #expect(try await backfill() == counts(0))
    #expect(try await events == nil)
    try await watch()
    #expect(try await pendingTables() == ["public.bookings"])
  }

  @Test func `R64: after it, a row that was finished before is not copied until its state changes`()
    async throws
  {
    try await watch()
    #expect(try await backfill() == counts(3))
    _ = try await events
    try await session.script("update bookings set rider = 'c' || rider where id > 3")
    #expect(try await rides == "b-1 requested c1, b-2 requested c2, b-3 requested c3")
    #expect(try await events == nil)
    // A live row whose ride is gone is no such row.
    try await session.script(
      "delete from ridepulse.rides where id = 'b-1'; update bookings set rider = 'x' where id = 1")
    #expect(try await rides == "b-1 requested x, b-2 requested c2, b-3 requested c3")
    _ = try await events
    try await session.script("update bookings set status = 'SEARCHING' where id = 1000")
    #expect(try await events == "b-1000 requested")
    // Rules with another active state, and another mapping, count as not backfilled.
    #expect(try await pendingTables() == [])
    #expect(try await pendingTables(["requested", "ride_completed"]) == ["public.bookings"])
    let again = try await TableBackfill(
      session, table: "bookings", active: ["requested", "ride_completed"]
    ).run(isForced: false)
    #expect(again?.inserted == 996)
    _ = try await events
    try await session.script("delete from ridepulse.rides where id = 'b-4'")
    try await watch()
    try await session.script("update bookings set rider = 'y' where id = 4")
    #expect(try await events == "b-4 ride_watched")
  }

  @Test func `R64: it refreshes live rides, and removes those whose row is gone`() async throws {
    try await watch()
    _ = try await backfill()
    // Writes that fire no trigger.
    try await session.script(
      """
      delete from ridepulse.events;
      set local session_replication_role = replica;
      update bookings set rider = 'x' where id = 1;
      update bookings set status = 'DONE' where id = 2;
      delete from bookings where id = 3;
      insert into bookings values (2000, 'SEARCHING', 'y');
      insert into ridepulse.rides (id, state) values ('direct', 'requested')
      """)
    #expect(try await backfill() == counts(1, 2, 1))
    #expect(
      try await rides
        == "b-1 requested x, b-2 ride_completed c2, b-2000 requested y, direct requested")
    #expect(
      try await events
        == "b-1 ride_watched, b-2 ride_watched, b-2000 ride_watched, b-3 ride_removed")
    try await session.script(
      "set local session_replication_role = replica; update bookings set deleted_at = now() where id = 1"
    )
    #expect(try await backfill() == counts(0, 0, 1))
    #expect(try await events == "b-1 ride_removed")
  }

  @Test func `R64: without a prefix, a ride without a row stays and is counted`() async throws {
    try await watch(#"{"id": "id", "state": "status", "states": {"SEARCHING": "requested"}}"#)
    try await session.script("insert into ridepulse.rides (id, state) values ('own', 'requested')")
    #expect(try await backfill() == counts(3, 0, 0, 1))
    #expect(try await session.value("select count(*) from ridepulse.rides") == "4")
  }

  /// Tables of other shapes: definition, rows, mapping, and the IDs that become rides.
  private static let shapes: [(table: String, rows: String, mapping: String, ids: String)] = [
    (
      "id uuid primary key, status smallint",
      "values ('00000000-0000-0000-0000-000000000001'::uuid, 1), ('00000000-0000-0000-0000-000000000002'::uuid, 9)",
      #"{"id": {"column": "id", "prefix": "t-"}, "state": "status", "states": {"1": "requested"}}"#,
      "t-00000000-0000-0000-0000-000000000001"
    ),
    (
      "id int, status kind, at date, primary key (id, at)) partition by range (at",
      "values (1, 'requested'::kind, '2026-01-05'::date), (2, 'done', '2026-01-05')",
      #"{"id": {"column": "id", "prefix": "t-"}, "state": "status"}"#, "t-1"
    ),
    (
      "id text, status varchar(20)", "values ('a', 'requested'), ('b', 'x'), ('', 'requested')",
      #"{"id": {"column": "id", "prefix": "t-"}, "state": "status"}"#, "t-a"
    ),
    (
      "id numeric primary key, open boolean", "values (1.5, true), (2, false)",
      #"{"id": {"column": "id", "prefix": "t-"}, "state": "open", "states": {"true": "requested"}}"#,
      "t-1.5"
    ),
    (
      "id int primary key, k text", "values (1, 'a'), (2, 'b')",
      #"{"id": {"column": "id", "prefix": "t-"}, "state": {"constant": "requested"}, "where": "k = 'b'"}"#,
      "t-2"
    ),
    (
      "id int primary key, status text", "values (1, 'S'), (2, 'x')",
      #"{"ride": "public.of_trip", "id": {"prefix": "t-"}, "states": {"S": "requested"}}"#, "t-1"
    ),
  ]

  @Test(arguments: shapes.indices)
  func `R62: it copies the live rows of tables of any shape`(index: Int) async throws {
    let shape = Self.shapes[index]
    try await session.script(
      """
      create type kind as enum ('requested', 'done');
      create table trips (\(shape.table));
      \(shape.table.contains("partition") ? "create table trips_1 partition of trips default;" : "")
      insert into trips \(shape.rows);
      \(shape.mapping.contains("of_trip")
        ? """
          create function public.of_trip(t trips) returns ridepulse.rides language sql as
            $$ select (t.id::text, t.status, null, null, null, 'UTC', '{}', null)::ridepulse.rides $$;
          """ : "")
      """)
    try await watch(shape.mapping, table: "trips")
    #expect(try await backfill("trips") == counts(1))
    #expect(try await session.value("select string_agg(id, ' ') from ridepulse.rides") == shape.ids)
    #expect(try await backfill("trips") == counts(0))
    try await session.script(
      "set local session_replication_role = replica; delete from trips; delete from ridepulse.events"
    )
    #expect(try await backfill("trips") == counts(0, 0, 1))
  }

  @Test func `R61: rows that a writer keeps locked hold up no other row`() async throws {
    try await watch()
    _ = try await backfill()
    try await session.script("select pg_advisory_lock(7)")
    let writer = try PostgresSession(conninfo: url)
    let open = Task {
      try await writer.script(
        """
        begin; update bookings set rider = 'w' where id = 1;
        select pg_advisory_xact_lock(7); commit
        """)
    }
    try await session.wait(
      until: waitingForAdvisoryLock, is: "1")
    try await session.script(
      "set local session_replication_role = replica; update bookings set rider = 'z' where id = 2")
    let refused = await #expect(throws: PostgresError.self) {
      try await backfill(patience: .seconds(15))
    }
    #expect(refused?.server?.sqlState == "55P03")
    #expect(try await rides == "b-1 requested c1, b-2 requested z, b-3 requested c3")
    try await session.script("select pg_advisory_unlock(7)")
    try await open.value
    _ = try await backfill()
    #expect(try await rides == "b-1 requested w, b-2 requested z, b-3 requested c3")
    await writer.close()
  }

  @Test func `R62: a row that is deleted while it is copied leaves no ride`() async throws {
    try await watch()
    let writer = try PostgresSession(conninfo: url)
    try await session.script("select pg_advisory_lock(7)")
    let open = Task {
      let sql = "begin; delete from bookings where id = 1; select pg_advisory_xact_lock(7); commit"
      try await writer.script(sql)
    }
    try await session.wait(
      until: waitingForAdvisoryLock, is: "1")
    // The row is still visible to the backfill, which must not insert its ride.
    await #expect(throws: PostgresError.self) { try await backfill(patience: .seconds(3)) }
    #expect(try await rides == nil)
    try await session.script("select pg_advisory_unlock(7)")
    try await open.value
    #expect(try await backfill() == counts(2))
    await writer.close()
  }

  @Test func `R62: rides stay true while writers and backfills go on at once`() async throws {
    try await watch()
    try await session.script("update bookings set status = 'SEARCHING' where id <= 300")
    let table = url
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 1...3 {
        group.addTask {
          let writer = try PostgresSession(conninfo: table)
          var generator = SystemRandomNumberGenerator()
          for _ in 1...150 {
            let id = Int.random(in: 1...320, using: &generator)
            let change = [
              "update bookings set status = 'DONE' where id = \(id)",
              "update bookings set status = 'SEARCHING' where id = \(id)",
              "update bookings set rider = 'r\(id)' where id = \(id)",
              "delete from bookings where id = \(id)",
              "update bookings set deleted_at = now() where id = \(id)",
              "insert into bookings values (\(id), 'SEARCHING') on conflict do nothing",
            ].randomElement(using: &generator)
            try await writer.script(change ?? "")
          }
          await writer.close()
        }
      }
      for _ in 1...6 { _ = try await backfill() }
      try await group.waitForAll()
    }
    #expect(
      try await session.value(
        """
        select count(*) from (
          select 'b-' || id, 'requested', rider from bookings
          where status = 'SEARCHING' and deleted_at is null
          except select id, state, customer_id from ridepulse.rides) missing
        """) == "0")
    #expect(
      try await session.value(
        """
        select count(*) from (
          select id, state, customer_id from ridepulse.rides where state = 'requested'
          except select 'b-' || id, 'requested', rider from bookings
          where status = 'SEARCHING' and deleted_at is null) wrong
        """) == "0")
  }

  @Test func `R62: a role that may read the table alone backfills it with the named grants`()
    async throws
  {
    try await watch()
    let role = "reader_\(UInt32.random(in: 0 ... .max))"
    try await session.script(
      "create role \(role) login; grant usage on schema ridepulse to \(role)")
    let own = try PostgresSession(conninfo: url + " user=\(role)")
    let lacking = try #require(try await BackfillRights.read(own, table: "public.bookings"))
    #expect(lacking.grants.count == 3)
    for grant in lacking.grants { try await session.script(grant) }
    let rights = try #require(try await BackfillRights.read(own, table: "public.bookings"))
    #expect(rights.refusal == nil)
    let copied = try await TableBackfill(own, table: rights.table, active: ["requested"])
      .run(isForced: true)
    #expect(copied == counts(3))
    await own.close()
    try await session.script("drop owned by \(role); drop role \(role)")
  }
}
