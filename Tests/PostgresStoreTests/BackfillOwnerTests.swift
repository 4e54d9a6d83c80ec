import Foundation
import Testing

@testable import PostgresStore

/// Tests that reading an attached table runs no code of an owner who lacks rights of the reader.
@Suite("Backfills run no code of a lesser owner", .timeLimit(.minutes(60)))
struct BackfillOwnerTests {
  private let superuser: PostgresSession
  /// A member of `ridepulse_engine`.
  private let engine: PostgresSession
  /// The owner of `evil.trips`.
  private let owner: PostgresSession
  private let number = UInt32.random(in: 0 ... .max)
  private var ownerRole: String { "owner_\(number)" }
  private var engineRole: String { "engine_\(number)" }

  init() async throws {
    let url = try await migratedDatabase()
    superuser = try PostgresSession(conninfo: url)
    try await RoleSetup.apply(superuser)
    let (owner, engine) = ("owner_\(number)", "engine_\(number)")
    try await superuser.script(
      """
      create role \(engine) login in role ridepulse_engine;
      create role \(owner) login;
      create schema evil authorization \(owner);
      grant usage on schema ridepulse to \(owner);
      grant execute on all functions in schema ridepulse to \(owner);
      """)
    self.engine = try PostgresSession(
      conninfo: url.replacing("user=postgres", with: "user=\(engine)"))
    self.owner = try PostgresSession(
      conninfo: url.replacing("user=postgres", with: "user=\(owner)"))
    try await self.owner.script(
      """
      create table evil.proof (who text);
      create function evil.trap() returns text language plpgsql volatile as $$
      begin insert into evil.proof values (current_user); return '1'; end $$;
      create function evil.is_ride(text) returns boolean language plpgsql as $$
      begin insert into evil.proof values (current_user); return true; end $$;
      grant usage on schema evil to public;
      grant insert on evil.proof to public;
      create table evil.trips (id text, status text);
      grant select on evil.trips to public
      """)
  }

  private func leave() async throws {
    for session in [engine, owner] { await session.close() }
    try await superuser.script(
      "drop owned by \(ownerRole), \(engineRole) cascade; drop role \(ownerRole), \(engineRole)")
    await superuser.close()
  }

  private func watch(_ mapping: String = "") async throws {
    try await owner.script(
      "select ridepulse.watch('evil.trips', '{\(mapping)\"id\": \"id\", \"state\": \"status\"}')")
  }

  /// The two functions that read a table; the first reading is that of programs of the last version.
  private static let readings = [
    "select count(*) from ridepulse.find_live_rows('TABLE', '{requested}', false)",
    "select count(*) from ridepulse.find_live_rows('TABLE', '{requested}')",
    #"select inserted from ridepulse.backfill_batch('TABLE', '{requested}', '[["1", ["1"], null]]', false)"#,
    #"select inserted from ridepulse.backfill_batch('TABLE', '{requested}', '[["1", ["1"], null]]')"#,
  ]

  /// Expects that each reading is refused, and that no code of the owner has run.
  private func expectRefusal(
    _ session: PostgresSession, _ states: Set<String>, before: String = "",
    table: String = "evil.trips",
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) async throws {
    for reading in Self.readings {
      let error = await #expect(
        throws: PostgresError.self, "\(reading)", sourceLocation: sourceLocation
      ) {
        try await session.script(before + reading.replacing("TABLE", with: table))
      }
      #expect(
        states.contains(error?.server?.sqlState ?? ""), "\(error?.description ?? "")",
        sourceLocation: sourceLocation)
    }
    let ran = try await superuser.value("select string_agg(distinct who, ' ') from evil.proof")
    #expect(ran == nil, sourceLocation: sourceLocation)
  }

  @Test func `A6: a table that becomes a view after it was attached is not read`() async throws {
    try await watch()
    try await owner.script(
      """
      drop trigger ridepulse_read on evil.trips; drop trigger ridepulse_watch on evil.trips;
      drop trigger ridepulse_read_update on evil.trips;
      drop trigger ridepulse_watch_update on evil.trips
      """)
    let version = try #require(
      try await superuser.value("select current_setting('server_version_num')"))
    if version < "160000" {
      // Forgets that the table had triggers.
      try await owner.script("vacuum evil.trips")
      try await owner.script(
        """
        create rule "_RETURN" as on select to evil.trips do instead
          select evil.trap() as id, 'requested' as status
        """)
    } else {
      // Later servers do not turn a table into a view.
      try await owner.script(
        """
        drop table evil.trips;
        create view evil.trips as select evil.trap() as id, 'requested' as status;
        """)
      try await superuser.script(
        "update ridepulse.watches set relation = 'evil.trips'::regclass")
      try await owner.script("grant select on evil.trips to public")
    }
    try await expectRefusal(engine, ["42501", "42809"])
    // Nor for an owner who has all rights of the engine.
    try await superuser.script("grant \(engineRole) to \(ownerRole)")
    try await expectRefusal(engine, ["42809"])
    try await leave()
  }

  @Test func `A6: a partition of a lesser owner is not read, nor a foreign one`() async throws {
    try await superuser.script(
      """
      create table public.all_trips (id text, status text) partition by list (status);
      create table evil.part partition of public.all_trips for values in ('requested');
      insert into public.all_trips values ('1', 'requested');
      grant select on public.all_trips to public;
      select ridepulse.watch('public.all_trips', '{"id": "id", "state": "status"}')
      """)
    #expect(try await engine.value(Self.readings[1].replacing("TABLE", with: "all_trips")) == "1")
    try await superuser.script("alter table evil.part owner to \(ownerRole)")
    try await expectRefusal(engine, ["42501"], table: "public.all_trips")
    try await superuser.script(
      """
      drop table evil.part;
      create foreign data wrapper nothing;
      create server nowhere foreign data wrapper nothing;
      create foreign table evil.part partition of public.all_trips for values in ('requested')
        server nowhere
      """)
    try await expectRefusal(engine, ["42809"], table: "public.all_trips")
    try await leave()
  }

  @Test(arguments: ["", "set local role ROLE; "])
  func `A7: a superuser runs no code of the owner, also after set role`(before: String) async throws
  {
    try await watch(#""where": "evil.is_ride(id)", "#)
    try await owner.script(
      "insert into evil.trips values ('1', 'requested'); delete from evil.proof")
    try await expectRefusal(
      superuser, ["42501"], before: before.replacing("ROLE", with: ownerRole))
    try await leave()
  }

  @Test func `A6: the owner reads its table, and so does a role that the owner may be`()
    async throws
  {
    try await watch(#""where": "evil.is_ride(id)", "#)
    try await owner.script(
      "insert into evil.trips values ('1', 'requested'); delete from evil.proof")
    let reading = Self.readings[1].replacing("TABLE", with: "evil.trips")
    #expect(try await owner.value(reading) == "1")
    try await superuser.script("delete from evil.proof")
    try await expectRefusal(engine, ["42501"])
    let rights = try #require(try await BackfillRights.read(engine, table: "evil.trips"))
    #expect(rights.lesserOwner == ownerRole)
    let remedy = rights.remedy("ridepulse backfill evil.trips")
    let grant = try #require(remedy.components(separatedBy: ": ").last)
    #expect(grant == "grant \"\(engineRole)\" to \"\(ownerRole)\"")
    try await superuser.script(grant)
    #expect(try await engine.value(reading) == "1")
    #expect(try await BackfillRights.read(engine, table: "evil.trips")?.refusal == nil)
    // No remedy makes the owner a superuser.
    let power = try #require(try await BackfillRights.read(superuser, table: "evil.trips"))
    #expect(power.remedy("COMMAND") == "as \(ownerRole): COMMAND")
    try await leave()
  }
}
