import Foundation
import Testing

@testable import PostgresStore

/// Tests of which tables may be attached, and by whom.
extension WatchTests {
  @Test(arguments: [
    ("timestamp", #""pickup""#, "is a timestamp without time zone"),
    ("date", #""pickup""#, "is of type date, which is not a time"),
    (
      "bigint", #"{"column": "pickup", "time_zone": "UTC"}"#,
      "is of type bigint, which is not a time"
    ),
    ("timestamp", #"{"column": "pickup", "time_zone": "Mars"}"#, "knows no time zone 'Mars'"),
    ("timestamp", #"{"time_zone": "UTC"}"#, "which names no column"),
    ("timestamp", #"{"column": "pickup", "zone": "UTC"}"#, "which names no column"),
    ("timestamp", "7", "which names no column"),
    ("timestamp", #"{"column": "nobody", "time_zone": "UTC"}"#, "has no column nobody"),
  ])
  func `a pickup time that can't be understood is refused`(
    type: String, source: String, message: String
  ) async throws {
    try await session.script("create table trips (id text, status text, pickup \(type))")
    let error = await #expect(throws: PostgresError.self) {
      try await session.script(
        "select ridepulse.watch('trips', '{\"id\": \"id\", \"state\": \"status\", \"pickup_at\": \(source)}')"
      )
    }
    #expect(error?.server?.message.contains(message) == true, "\(String(describing: error))")
    #expect(try await session.value("select count(*) from ridepulse.watches") == "1")
  }

  @Test func `a timestamp without zone is of the zone that the mapping names`() async throws {
    try await session.script(
      """
      select ridepulse.unwatch('bookings');
      create domain local_time as timestamp;
      create table trips (id int, status text, pickup local_time);
      insert into trips values (1, 'requested', '2026-01-15 10:00');
      set timezone = 'America/New_York';
      select ridepulse.watch('trips', '{"id": "id", "state": {"column": "status"},
        "pickup_at": {"column": "pickup", "time_zone": "Europe/Berlin"}}');
      insert into trips values (2, 'requested', '2026-07-15 10:00')
      """)
    _ = try await backfill("trips")
    #expect(
      try await session.value(
        """
        select string_agg(to_char(pickup_at at time zone 'UTC', 'HH24:MI'), ' ' order by id)
        from ridepulse.rides
        """) == "09:00 08:00")
  }

  @Test func `only its owner may attach a table, and the error names the rights that needs`()
    async throws
  {
    let role = "owner_\(UInt32.random(in: 0 ... .max))"
    try await session.script(
      """
      create role \(role);
      grant usage on schema ridepulse to \(role);
      create schema \(role) authorization \(role)
      """)
    func watch(_ table: String) async -> PostgresError? {
      do throws(PostgresError) {
        try await session.script(
          """
          set local role \(role);
          select ridepulse.watch('\(table)',
            '{"id": {"column": "id", "prefix": "t-"}, "state": "status"}')
          """)
        return nil
      } catch {
        return error
      }
    }
    try await session.script(
      "set local role \(role); create table \(role).trips (id int, status text)")
    #expect(await watch("\(role).trips")?.server?.sqlState == "42501")
    try await session.script(
      """
      grant execute on function ridepulse.watch(regclass, jsonb),
        ridepulse.require_owner(regclass) to \(role)
      """)
    let refusal = try #require(await watch("\(role).trips")?.server)
    #expect(refusal.message.contains("role \(role) may not attach tables"))
    let hint = try #require(refusal.hint)
    let start = try #require(hint.range(of: "grant execute"))
    try await session.script(String(hint[start.lowerBound...]))
    #expect(await watch("\(role).trips") == nil)
    // A role that writes to the table needs no right on our schema, not even USAGE.
    let writer = "\(role)_writer"
    try await session.script(
      """
      create role \(writer);
      grant usage on schema \(role) to \(writer);
      grant insert, update on \(role).trips to \(writer)
      """)
    let foreign = await watch("public.bookings")?.server?.message
    #expect(foreign?.contains("only the owner of public.bookings") == true)
    try await session.script(
      "set local role \(writer); insert into \(role).trips values (7, 'requested')")
    #expect(try await session.value(Self.ride) == "t-7 requested UTC {}")
    try await session.script(
      "drop owned by \(role), \(writer) cascade; drop role \(role), \(writer)")
  }

  @Test(arguments: [
    "create view v as select * from bookings", "create temp table v (id text, status text)",
  ])
  func `what is no table that stays is refused`(make: String) async throws {
    try await session.script(make)
    let error = await #expect(throws: PostgresError.self) {
      try await session.script(#"select ridepulse.watch('v', '{"id": "id", "state": "status"}')"#)
    }
    #expect(error?.server?.sqlState == "42809")
  }
}
