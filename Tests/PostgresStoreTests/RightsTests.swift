import Testing

@testable import PostgresStore

/// Tests what an unprivileged role can make the functions of the schema do.
@Suite("Rights", .timeLimit(.minutes(60))) struct RightsTests {
  private let url: String
  private let owner: PostgresSession
  private let role = "stranger_\(UInt32.random(in: 0 ... .max))"
  private let stranger: PostgresSession

  init() async throws {
    url = try await migratedDatabase()
    owner = try PostgresSession(conninfo: url)
    let database = url.split(separator: "=").last.map(String.init) ?? ""
    try await owner.script(
      """
      create role \(role) login;
      grant create, temporary on database \(database) to \(role);
      grant usage on schema ridepulse to \(role)
      """)
    stranger = try PostgresSession(
      conninfo: url.replacing("user=postgres", with: "user=\(role)"))
    try await stranger.script(Self.traps)
  }

  /// The stranger's own schema: a type with casts, operators and functions that record the role
  /// under which they run.
  private static let traps = """
    create schema evil;
    create table evil.proof (who text, what text);
    grant usage on schema evil to public;
    grant insert on evil.proof to public;
    create type evil.pair as enum ('x', 'y');
    do $do$
    declare
      target text;
    begin
      foreach target in array array['json', 'jsonb', 'text', 'timestamptz', 'boolean', 'bigint']
      loop
        execute format($f$
          create function evil.as_%1$s(evil.pair) returns %1$s language plpgsql as $$
          begin
            insert into evil.proof values (current_user, 'cast to %1$s');
            return %2$L::%1$s;
          end $$;
          create cast (evil.pair as %1$s) with function evil.as_%1$s(evil.pair) as implicit
          $f$, target, case target when 'timestamptz' then '2026-03-01Z' when 'boolean' then 't'
            when 'bigint' then '1' when 'text' then 'x' else '{"a": "b"}' end);
      end loop;
      foreach target in array array['=', '<>', '||', '->', '->>', '?', '#>>'] loop
        execute format($f$
          create operator evil.%1$s (leftarg = text, rightarg = text, function = evil.of_texts);
          create operator evil.%1$s (leftarg = jsonb, rightarg = text, function = evil.of_json);
          create operator evil.%1$s (leftarg = evil.pair, rightarg = text, function = evil.of_pair)
          $f$, target);
      end loop;
    end $do$;
    create table evil.pairs (id evil.pair, state evil.pair, customer_id evil.pair, attributes evil.pair);
    create table evil.mixed (id evil.pair, state text, customer_id text, attributes jsonb);
    create table evil.maps (id text, state text, customer_id text, attributes evil.pair);
    """.replacing(
      "do $do$",
      with: """
        create function evil.of_texts(text, text) returns boolean language plpgsql as $$
        begin insert into evil.proof values (current_user, 'operator'); return true; end $$;
        create function evil.of_json(jsonb, text) returns boolean language plpgsql as $$
        begin insert into evil.proof values (current_user, 'operator'); return true; end $$;
        create function evil.of_pair(evil.pair, text) returns boolean language plpgsql as $$
        begin insert into evil.proof values (current_user, 'operator'); return true; end $$;
        create function evil.lower(text) returns text language plpgsql as $$
        begin insert into evil.proof values (current_user, 'function'); return $1; end $$;
        do $do$
        """)

  /// A function and its argument types; nil for a trigger function.
  private struct Routine {
    var name: String
    var arguments: [String]?
  }

  private func routines() async throws -> [Routine] {
    let rows = try await owner.run([
      direct(
        """
        select p.oid::regprocedure::text, prorettype = 'trigger'::regtype,
          array_to_string(array(select t::regtype::text from unnest(proargtypes) t), ',')
        from pg_proc p where pronamespace = 'ridepulse'::regnamespace order by 1
        """)
    ])[0]
    return (0..<rows.rowCount).map { row in
      let types = (rows.string(row, 2) ?? "").split(separator: ",").map(String.init)
      return Routine(
        name: rows.string(row, 0) ?? "", arguments: rows.bool(row, 1) == true ? nil : types)
    }
  }

  private static let mapping = #"{"id": "id", "state": "state", "attributes": ["attributes"]}"#

  /// Returns a value of a type, as the stranger would write it.
  private static func value(_ type: String) -> String {
    switch type {
    case "regclass": "'evil.pairs'"
    case "jsonb": "'\(mapping)'"
    case "boolean": "true"
    case "bigint": "1"
    case "interval": "'2 days'"
    case "timestamp with time zone": "now()"
    default: "'x'::evil.pair::text::\(type)"
    }
  }

  /// Returns statements of the stranger that would run its traps: triggers on its own tables, and
  /// calls.
  private func attempts(_ routine: Routine) -> [String] {
    let name = routine.name.prefix { $0 != "(" }
    guard let arguments = routine.arguments else {
      // As a list of columns, and as a mapping.
      let texts = ["r.id, r.state, r.attributes", Self.mapping]
      return ["pairs", "mixed", "maps"].flatMap { table in
        ["before", "after"].flatMap { time in
          texts.map { text in
            """
            create trigger trap \(time) insert or update on evil.\(table) for each row
              execute function \(name)('\(text)')
            """
          }
        }
      }
    }
    return [
      "select \(name)(\(arguments.map(Self.value).joined(separator: ", ")))",
      "select \(name)(\(arguments.map { "null::\($0)" }.joined(separator: ", ")))",
    ]
  }

  /// Writes of all kinds to the stranger's tables, each executed on its own.
  private static let writes = ["pairs", "mixed", "maps"].flatMap { table in
    let pair = "'x'::evil.pair"
    let id = table == "maps" ? "'x'" : pair
    let state = table == "pairs" ? pair : "null"
    let map = table == "mixed" ? #"'{"customer_channel_id": "b"}'"# : pair
    let people = table == "pairs" ? pair : "'c'"
    return [
      "insert into evil.\(table) values (\(id), \(state), \(people), \(map))",
      "set ridepulse.silent = 'on'; insert into evil.\(table) values (\(id), \(state), \(people), \(map))",
      "update evil.\(table) set customer_id = \(people)",
      "delete from evil.\(table)",
    ]
  }

  /// Runs a statement that may fail; returns its SQLSTATE then.
  @discardableResult private func attempt(_ sql: String) async -> String? {
    do throws(PostgresError) {
      try await stranger.script("set local search_path = evil, pg_catalog, ridepulse; \(sql)")
      return nil
    } catch {
      return error.server?.sqlState ?? "\(error)"
    }
  }

  private func expectNoEscalation(sourceLocation: Testing.SourceLocation = #_sourceLocation)
    async throws
  {
    let proof = try await owner.value(
      "select string_agg(distinct who || ': ' || what, ', ') from evil.proof where who <> $1",
      [role])
    #expect(proof == nil, sourceLocation: sourceLocation)
    try await owner.script("delete from evil.proof")
  }

  private func leave() async throws {
    await stranger.close()
    try await owner.script("drop owned by \(role) cascade; drop role \(role)")
    await owner.close()
  }

  @Test func `PUBLIC may execute nothing, and each function has a search path of its own`()
    async throws
  {
    let open = """
      select string_agg(p.oid::regprocedure::text, ' ') from pg_proc p
      where pronamespace = 'ridepulse'::regnamespace and exists (
        select from aclexplode(coalesce(proacl, acldefault('f', proowner))) where grantee = 0)
      """
    #expect(try await owner.value(open) == nil)
    let loose = """
      select string_agg(p.oid::regprocedure::text, ' ') from pg_proc p
      where pronamespace = 'ridepulse'::regnamespace
        and not coalesce(proconfig, '{}') @> array['search_path=pg_catalog, pg_temp']
      """
    #expect(try await owner.value(loose) == nil)
    try await leave()
  }

  @Test func `a role with USAGE alone can call no function, nor make it a trigger`() async throws {
    let routines = try await routines()
    #expect(routines.count > 20)
    for routine in routines {
      for sql in attempts(routine) {
        #expect(await attempt(sql) == "42501", "\(sql)")
      }
    }
    try await expectNoEscalation()
    try await leave()
  }

  @Test func `a role that was granted every function runs its own code under its own name only`()
    async throws
  {
    try await owner.script("grant execute on all functions in schema ridepulse to \(role)")
    for routine in try await routines() {
      for sql in attempts(routine) {
        await attempt(sql)
        guard routine.arguments == nil else { continue }
        for write in Self.writes { await attempt(write) }
        for table in ["pairs", "mixed", "maps"] {
          await attempt("drop trigger if exists trap on evil.\(table)")
        }
      }
      try await expectNoEscalation()
    }
    try await leave()
  }

  @Test func `a table that is attached by its owner can't run its casts under ours`() async throws {
    try await owner.script("grant execute on all functions in schema ridepulse to \(role)")
    try await stranger.script(
      """
      create table bookings (id text, status text, plate text);
      select ridepulse.watch('bookings', '{"id": "id", "state": "status", "attributes": ["plate"]}');
      insert into bookings values ('r1', 'requested', 'B 1');
      -- The types may become others afterwards, once the triggers that depend on them are gone.
      drop trigger ridepulse_read_update on bookings;
      drop trigger ridepulse_watch_update on bookings;
      alter table bookings alter column plate type evil.pair using 'x'::evil.pair
      """.replacing("create table", with: "create schema s; set search_path = s; create table"))
    // A session that has read rows keeps the plan for the former type, and records an error.
    let other = try PostgresSession(
      conninfo: url.replacing("user=postgres", with: "user=\(role)"))
    try await other.script("insert into s.bookings values ('r2', 'driver_arrived', 'x')")
    await other.close()
    #expect(
      try await owner.value(
        "select state || ' ' || attributes from ridepulse.rides where id = 'r2'")
        == #"driver_arrived {"plate": {"a": "b"}}"#)
    #expect(
      try await owner.value("select count(*) > 0 from evil.proof where who = $1", [role]) == "t")
    try await expectNoEscalation()
    try await leave()
  }

  @Test func `the known attack: a temporary table under the trigger of watch`() async throws {
    let attack = """
      create temp table bait (id text, state text, plate evil.pair);
      create trigger bait after insert on bait for each row
        execute function ridepulse.watched('{"id": "id", "state": "state"}');
      insert into bait values ('x', 'requested', 'y')
      """
    #expect(await attempt(attack) == "42501")
    try await expectNoEscalation()
    try await leave()
  }

  @Test func `functions of a later migration come without PUBLIC, too`() async throws {
    let later = try #require(
      Migration(
        name: "9999_later",
        sql: "create function ridepulse.later() returns int language sql as 'select 1'"))
    _ = try await Migrations.apply(session: owner, steps: Migrations.all + [later])
    #expect(await attempt("select ridepulse.later()") == "42501")
    try await leave()
  }
}
