import Testing

@testable import PostgresStore

@Suite struct SchemaNameTests {
  @Test(arguments: [
    "", "Berlin", "1berlin", "ber-lin", "berlin;drop", "pg_toast", "public", "order",
    "ridepulse_app",
    "berlin\u{301}", String(repeating: "x", count: 41),
  ])
  func `R110: a name that needs quotes or is not free is refused`(name: String) {
    let error = #expect(throws: PostgresError.self) { try SchemaName(name) }
    #expect(error?.kind == .invalidSchema(name))
    #expect(error?.description.contains("RIDEPULSE_SCHEMA") == true)
  }

  @Test(arguments: [
    ("select * from ridepulse.rides r", "select * from berlin.rides r"),
    (
      "grant usage on schema ridepulse to ridepulse_app",
      "grant usage on schema berlin to berlin_app"
    ),
    ("to_regnamespace('ridepulse')", "to_regnamespace('berlin')"),
    ("format('ridepulse.%I', t)", "format('berlin.%I', t)"),
    ("'ridepulse.' || name", "'berlin.' || name"),
    ("set_config('ridepulse.silent', 'on', true)", "set_config('berlin.silent', 'on', true)"),
    ("run: ridepulse migrate", "run: ridepulse migrate"),
    ("See ridepulse. It is", "See ridepulse. It is"),
    ("my_ridepulse.rides", "my_ridepulse.rides"),
    ("in schema ridepulse", "in schema berlin"),
    ("ridepulse", "ridepulse"),
    ("", ""),
  ])
  func `the word is replaced where it names the schema`(text: String, expected: String) throws {
    let berlin = try SchemaName("berlin")
    #expect(berlin.applied(to: text) == expected)
    #expect(berlin.applied(to: expected) == expected)
    #expect(SchemaName.standard.applied(to: text) == text)
  }

  @Test func `a name that begins with the standard one is put in once`() throws {
    let schema = try SchemaName("ridepulse_b")
    let once = schema.applied(to: "ridepulse.rides ridepulse_app ridepulse_bus")
    #expect(once == "ridepulse_b.rides ridepulse_b_app ridepulse_b_bus")
    #expect(schema.applied(to: once) == once)
  }

  @Test func `statements of two schemas have two prepared names`() async throws {
    let session = try PostgresSession(
      conninfo: try await makeDatabase(), schema: try SchemaName("berlin"))
    _ = try await Migrations.apply(session: session)
    let count = Statement(name: "count", sql: "select count(*) from ridepulse.rides")
    _ = try await session.run([Call(count)])
    let prepared = Statement(
      name: "", sql: "select string_agg(name, ',') from pg_prepared_statements")
    let names = try await session.run([Call(prepared)])[0].string(0, 0) ?? ""
    #expect(names.hasPrefix("count_") && names != count.preparedName)
    // In two parts, so that the word itself is not replaced.
    let standard = "select count(*) from pg_namespace where nspname = 'ride' || 'pulse'"
    #expect(try await session.value(standard) == "0")
    await session.close()
  }
}
