import TestSupport
import Testing

@testable import PostgresStore

/// Tests of the step that puts `seen_at` before `apns_unique_id`: a view and a function are made
/// again, and must lose nothing that others have of them.
@Suite(.timeLimit(.minutes(60))) struct DeliveryColumnsTests {
  private let session: PostgresSession

  init() async throws {
    session = try PostgresSession(conninfo: try await makeDatabase())
  }

  private func migrate(through number: Int = .max) async throws {
    _ = try await Migrations.apply(
      session: session, steps: Migrations.all.filter { $0.number <= number })
  }

  private static let columns = """
    select string_agg(attname, ', ' order by attnum) from pg_attribute
    where attrelid = 'ridepulse.deliveries'::regclass and attnum > 0
    """

  @Test func `deliveries and deliveries_after have the contract's columns in its order`()
    async throws
  {
    try await migrate()
    let names =
      "ride_id, event, rule, app, push_type, status, reason, attempts, apns_id, collapse_id, "
      + "created_at, finished_at, token_suffix, seen_at, apns_unique_id"
    #expect(try await session.value(Self.columns) == names)
    let returned = """
      select string_agg(name, ', ') from pg_proc p, unnest(p.proargnames[3:]) name
      where p.oid = 'ridepulse.deliveries_after(text, integer)'::regprocedure
      """
    #expect(try await session.value(returned) == "next, " + names)
  }

  @Test func `The view and the function keep their owner and the rights of each role`()
    async throws
  {
    try await migrate(through: 24)
    let number = UInt32.random(in: 0 ... .max)
    let (owner, reader) = ("owner \(number)", "reader \(number)")
    try await session.script(
      """
      create role "\(owner)"; create role "\(reader)";
      grant all on schema ridepulse to "\(owner)";
      alter view ridepulse.deliveries owner to "\(owner)";
      alter function ridepulse.deliveries_after owner to "\(owner)";
      grant select on ridepulse.deliveries to "\(reader)" with grant option;
      grant select (ride_id) on ridepulse.deliveries to public;
      grant execute on function ridepulse.deliveries_after to "\(reader)"
      """)
    let rights = """
      select string_agg(line, ' ' order by line) from (
        select c.relowner::regrole::text from pg_class c where c.oid = 'ridepulse.deliveries'::regclass
        union all
        select a::text from pg_class c, unnest(c.relacl) a
        where c.oid = 'ridepulse.deliveries'::regclass
        union all
        select a::text from pg_attribute t, unnest(t.attacl) a
        where t.attrelid = 'ridepulse.deliveries'::regclass
        union all
        select p.proowner::regrole::text || a from pg_proc p, unnest(p.proacl) a
        where p.oid = 'ridepulse.deliveries_after(text, integer)'::regprocedure) r (line)
      """
    let before = try await session.value(rights)
    try await migrate()
    #expect(try await session.value(rights) == before)
    #expect(before?.contains("reader \(number)") == true)
    let isPublic = "select has_function_privilege('public', "
    #expect(
      try await session.value(
        isPublic + "'ridepulse.deliveries_after(text, integer)', 'execute')") == "f")
    try await session.script(
      """
      alter view ridepulse.deliveries owner to postgres;
      alter function ridepulse.deliveries_after owner to postgres;
      drop owned by "\(owner)", "\(reader)"; drop role "\(owner)", "\(reader)"
      """)
  }

  @Test func `An app's own view of deliveries goes on working, and seen_at is the last column`()
    async throws
  {
    try await migrate(through: 24)
    try await session.script(
      "create view public.mine as select ride_id, apns_unique_id from ridepulse.deliveries")
    try await migrate()
    #expect(try await session.value("select count(apns_unique_id) from public.mine") == "0")
    #expect(
      try await session.value(Self.columns)?.hasSuffix("apns_unique_id, seen_at") == true)
  }
}
