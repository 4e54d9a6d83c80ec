import Testing

@testable import PostgresStore

/// Tests of sessions and functions under the settings that a role or a database may have.
@Suite("Settings of a role", .timeLimit(.minutes(60))) struct SessionVariableTests {
  private static let hostile = [
    "array_nulls = off", "standard_conforming_strings = off", "DateStyle = 'German, DMY'",
    "IntervalStyle = sql_standard", "bytea_output = escape", "extra_float_digits = -15",
    "TimeZone = 'Asia/Kolkata'", "quote_all_identifiers = on",
    "default_transaction_isolation = serializable", "escape_string_warning = off",
    "backslash_quote = off", "transform_null_equals = on", "check_function_bodies = off",
  ]

  /// Passes a connection string of a role with these settings, which may create a schema.
  private func withRole(
    _ settings: [String], _ body: (String, PostgresSession) async throws -> Void
  ) async throws {
    let url = try await makeDatabase()
    let superuser = try PostgresSession(conninfo: url)
    let role = "odd_\(UInt32.random(in: 0 ... .max))"
    let database = url.split(separator: "=").last.map(String.init) ?? ""
    let set = settings.map { "alter role \(role) set \($0);" }.joined(separator: "\n")
    try await superuser.script(
      "create role \(role) login; grant create on database \(database) to \(role);\n\(set)")
    try await body(url.replacing("user=postgres", with: "user=\(role)"), superuser)
    try await superuser.script("drop owned by \(role) cascade; drop role \(role)")
    await superuser.close()
  }

  @Test func `A17: a session has the settings that its statements depend on`() async throws {
    try await withRole(Self.hostile) { url, _ in
      let session = try PostgresSession(conninfo: url)
      #expect(try await session.value("select ($1::text[])[1] is null", ["{NULL}"]) == "t")
      #expect(try await session.value(#"select length('a\b')"#) == "3")
      #expect(
        try await session.value("select current_setting('transaction_isolation')")
          == "read committed")
      #expect(try await session.value("select format('%I', 'rides')") == "rides")
      #expect(
        try await session.value("select '2026-03-01 10:00Z'::timestamptz::text")
          == "2026-03-01 15:30:00+05:30")
      // What a backfill copies is what the triggers copy.
      #expect(try await session.value("select current_setting('timezone')") == "Asia/Kolkata")
      await session.close()
    }
  }

  @Test func `A17: a role with any settings migrates, and its functions work`() async throws {
    try await withRole(Self.hostile) { url, superuser in
      let session = try PostgresSession(conninfo: url)
      _ = try await Migrations.apply(session: session)
      let loose = """
        select string_agg(p.oid::regprocedure::text, ' ') from pg_proc p
        where pronamespace = 'ridepulse'::regnamespace
          and (strpos(prosrc, chr(92)) > 0 or proname = 'reader_body')
          and not coalesce(proconfig, '{}') @> array['standard_conforming_strings=on']
        """
      #expect(try await superuser.value(loose) == nil)
      // The session of an app does not set them.
      try await session.script(
        """
        create schema away;
        set standard_conforming_strings = off;
        select ridepulse.hold('staging');
        insert into ridepulse.rides (id, state, attributes) values ('r1', 'x', '{"fleet_id": "f1"}');
        create table away.trips (id text, status text, at text);
        select ridepulse.watch('away.trips', '{"id": {"column": "id", "prefix": "t-"},
          "state": "status", "pickup_at": {"column": "at", "time_zone": "UTC"}}');
        insert into away.trips values ('1', 'requested', '2026-03-01 10:00+01')
        """)
      #expect(
        try await superuser.value(
          "select pickup_at = '2026-03-01 09:00Z' from ridepulse.rides where id = 't-1'")
          == "t")
      await session.close()
    }
  }

  @Test func `A17: migrate needs no temporary files, except for large indexes`() async throws {
    try await withRole(["temp_file_limit = 0", "work_mem = '192kB'"]) { url, superuser in
      let session = try PostgresSession(conninfo: url)
      _ = try await Migrations.apply(session: session)
      #expect(try await Migrations.state(session).missing == [])
      try await superuser.script(
        """
        set local session_replication_role = replica;
        insert into ridepulse.rides (id, state, customer_id)
        select 'r' || n, 'x', 'customer-' || n from generate_series(1, 200000) n;
        drop index ridepulse.rides_by_customer
        """)
      try await session.script("set maintenance_work_mem = '1MB'")
      let error = await #expect(throws: IndexBuildError.self) {
        try await IndexBuild(session: session).buildAll()
      }
      #expect(error?.description.contains("raise temp_file_limit of the role") == true)
      await session.close()
    }
  }

  @Test func `U9: no message ends in the place of a statement without a name`() {
    for error in [
      PostgresError(.server(ServerError(sqlState: "42501", message: "denied", statement: ""))),
      PostgresError(.invalidParameter(statement: "", index: 0)),
    ] {
      #expect(!error.description.contains("  "))
      #expect(error.description.split(separator: " ").last != "in", "\(error)")
    }
  }
}
