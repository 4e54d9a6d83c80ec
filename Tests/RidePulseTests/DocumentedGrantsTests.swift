import Foundation
import LocalStack
import PostgresStore
import TestSupport
import Testing

/// Uses roles with exactly the rights that docs/sql.md grants.
@Suite("Documented grants", .timeLimit(.minutes(60))) struct DocumentedGrantsTests {
  /// The SQL blocks of docs/sql.md that name a role.
  private static func blocks(naming role: String) throws -> [String] {
    let text = try String(contentsOfFile: Project.path("docs/sql.md"), encoding: .utf8)
    return text.components(separatedBy: "```sql\n").dropFirst()
      .compactMap { $0.components(separatedBy: "```").first }.filter { $0.contains(role) }
  }

  private static let objects = """
    create table shuttle.trips (id int primary key, status text);
    insert into shuttle.trips values (1, 'requested');
    create function shuttle.as_ride(t shuttle.trips) returns ridepulse.rides language sql stable as $$
      select (t.id::text, t.status, null, null, null, 'UTC', '{}', null)::ridepulse.rides $$;
    create table shuttle.bookings (id int primary key, status text, gone boolean);
    insert into shuttle.bookings values (1, 'requested', false);
    select ridepulse.watch('shuttle.trips', '{"ride": "shuttle.as_ride", "id": {"prefix": "t-"}}');
    select ridepulse.watch('shuttle.bookings', '{"id": {"column": "id", "prefix": "b-"},
      "state": "status", "where": "not gone"}');
    """

  @Test func `U9: the owner of tables attaches and backfills them with the documented grants`()
    async throws
  {
    let conninfo = try await LocalCluster.shared().freshDatabase()
    let suffix = "_\(UInt32.random(in: 0 ... .max))"
    let roles = ["ridepulse_owner", "bookings_owner", "rides_engine"]
    func named(_ sql: String) -> String {
      roles.reduce(sql) { $0.replacing($1, with: $1 + suffix) }
        .replacing("database city", with: "database \(conninfo.split(separator: "=").last ?? "")")
    }
    func environment(_ role: String) -> [String: String] {
      [
        "DATABASE_URL": conninfo.replacing("user=postgres", with: "user=\(role)\(suffix)"),
        "RIDEPULSE_SCHEDULES": Stage.rules,
      ]
    }
    func session(_ role: String) throws -> PostgresSession {
      try PostgresSession(conninfo: environment(role)["DATABASE_URL"] ?? "")
    }
    let superuser = try PostgresSession(conninfo: conninfo)
    let create = try #require(try Self.blocks(naming: "create role ridepulse_owner").first)
    try await superuser.script(named(create))
    #expect(try Command.ridepulse(["migrate"], environment("ridepulse_owner")).status == 0)
    #expect(try Command.ridepulse(["migrate", "--roles"], ["DATABASE_URL": conninfo]).status == 0)
    try await superuser.script(
      named(
        """
        create role rides_engine login in role ridepulse_engine;
        create role bookings_owner login;
        create schema shuttle authorization bookings_owner
        """))
    let schemaOwner = try session("ridepulse_owner")
    for block in try Self.blocks(naming: "to bookings_owner") {
      try await schemaOwner.script(named(block))
    }
    let owner = try session("bookings_owner")
    try await owner.script(Self.objects)
    for table in ["shuttle.trips", "shuttle.bookings"] {
      let result = try Command.ridepulse(["backfill", table], environment("bookings_owner"))
      #expect(result.output == "\(table): 1 ride inserted, 0 refreshed, 0 removed\n", "\(result)")
    }
    try await owner.script("update shuttle.trips set status = 'driver_arrived'")
    // The views, for the owner and for the service, which may not use the schema of the tables.
    for reader in [owner, try session("rides_engine")] {
      let views = Statement(
        name: "",
        sql: """
          select (select count(*) filter (where is_backfilled) from ridepulse.watched),
            (select count(*) from ridepulse.watch_problems)
          """)
      let counts = try await reader.run([Call(views)])[0]
      #expect(counts.int64(0, 0) == 2 && counts.int64(0, 1) == 0)
    }
    let refused = try Command.ridepulse(["backfill", "shuttle.trips"], environment("rides_engine"))
    #expect(refused.status == 1)
    let power = try Command.ridepulse(
      ["backfill", "shuttle.trips"], ["DATABASE_URL": conninfo, "RIDEPULSE_SCHEDULES": Stage.rules])
    #expect(
      power.status == 1
        && power.errors.contains("as bookings_owner\(suffix): ridepulse backfill shuttle.trips"),
      "\(power)")
    for session in [schemaOwner, owner] { await session.close() }
    let all = roles.map { $0 + suffix }.joined(separator: ", ")
    try await superuser.script("drop owned by \(all) cascade; drop role \(all)")
    await superuser.close()
  }

  @Test func `U9: what a backfill lacks is printed, and is enough`() async throws {
    try await Stage.run { stage in
      let role = "poor_\(UInt32.random(in: 0 ... .max))"
      try await stage.sql(
        """
        create role \(role) login;
        create schema away;
        create table away.trips (id int primary key, status text);
        insert into away.trips values (1, 'requested');
        select ridepulse.watch('away.trips', '{"id": "id", "state": "status"}')
        """)
      var environment = stage.environment
      environment["DATABASE_URL"] = stage.conninfo.replacing("user=postgres", with: "user=\(role)")
      try await stage.sql("grant usage on schema away to \(role)")
      let poor = try Command.ridepulse(["backfill", "away.trips"], environment)
      #expect(poor.status == 1)
      let grants =
        poor.errors.components(separatedBy: "lacks rights: ").last?
        .components(separatedBy: "; grant them").first ?? ""
      #expect(grants.contains("ridepulse.migrations"), "\(poor)")
      try await stage.sql(grants)
      let rich = try Command.ridepulse(["backfill", "away.trips"], environment)
      #expect(rich.output.contains("1 ride inserted"), "\(rich)")
      try await stage.sql("drop owned by \(role); drop role \(role)")
    }
  }
}
