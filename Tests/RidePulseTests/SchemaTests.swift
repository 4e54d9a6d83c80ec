import Foundation
import LocalStack
import PostgresStore
import TestSupport
import Testing

/// What all migrations together make, as `pg_dump` prints it: a change of the schema shows in a diff.
@Suite(.timeLimit(.minutes(60))) struct SchemaTests {
  private static let golden = Project.path("Tests/RidePulseTests/Golden/schema.sql")

  @Test func `The schema equals the golden file`() async throws {
    let schema = try await Self.dump(of: "ridepulse", ["RIDEPULSE_SCHEMA": ""])
    #expect(try Golden.difference(of: schema, from: Self.golden) == nil)
  }

  @Test(arguments: ["berlin", "ridepulse_berlin"])
  func `R110: A schema of any name holds the same objects`(name: String) async throws {
    let schema = try await Self.dump(of: name, ["RIDEPULSE_SCHEMA": name])
    let golden = try String(contentsOfFile: Self.golden, encoding: .utf8)
    #expect(schema != golden)
    let back = schema.replacing(name, with: "ridepulse").split(separator: "\n").sorted()
    let difference = back.difference(from: golden.split(separator: "\n").sorted())
    #expect(difference.isEmpty, "\(difference)")
  }

  /// Migrates a new database and returns its schema's definition.
  private static func dump(of schema: String, _ environment: [String: String]) async throws
    -> String
  {
    let conninfo = try await LocalCluster.shared().freshDatabase()
    let migrated = try Command.ridepulse(
      ["migrate"], environment.merging(["DATABASE_URL": conninfo]) { own, _ in own })
    #expect(migrated.status == 0, "\(migrated.errors)")
    // Partitions have the days of the test in their names.
    let dump = try Command.run(
      "/usr/bin/env",
      [
        "pg_dump", "--schema-only", "--no-owner", "--no-privileges", "--schema=\(schema)",
        "--exclude-table=\(schema).ledger_2*", "--exclude-table=\(schema).recorded_2*", conninfo,
      ], ProcessInfo.processInfo.environment)
    #expect(dump.status == 0, "\(dump.errors)")
    return normalized(dump.output)
  }

  /// Without what versions of `pg_dump` print differently: comments, settings, blank lines.
  private static func normalized(_ dump: String) -> String {
    let lines = dump.split(separator: "\n").filter { line in
      !line.hasPrefix("--") && !line.hasPrefix("SET ") && !line.hasPrefix("\\")
        && !line.hasPrefix("SELECT pg_catalog.set_config")
    }
    return lines.joined(separator: "\n") + "\n"
  }
}

/// Tests of the refusals and warnings of `migrate`.
@Suite(.timeLimit(.minutes(60))) struct MigrateTests {
  @Test(arguments: ["SQL_ASCII", "LATIN1"])
  func `A database whose encoding cannot hold every text is refused`(
    encoding: String
  ) async throws {
    let cluster = try await LocalCluster.shared()
    let name = "of_\(encoding.lowercased())"
    let admin = try PostgresSession(conninfo: cluster.url())
    _ = try await admin.run(
      [
        Call(
          Statement(
            name: "", sql: "create database \(name) encoding '\(encoding)' template template0"))
      ], timeout: .seconds(60))
    await admin.close()
    let environment = ["DATABASE_URL": cluster.url(database: name)]
    for words in [["migrate"], ["migrate", "--dry-run"]] {
      let result = try Command.ridepulse(words, environment)
      #expect(result.status == 1)
      #expect(result.errors.contains("database \(name) is encoded in \(encoding)"))
      #expect(result.errors.contains("create database NAME encoding 'UTF8' template template0"))
    }
    let session = try PostgresSession(conninfo: cluster.url(database: name))
    let schema = try await session.run([
      Call(Statement(name: "", sql: "select to_regnamespace('ridepulse')"))
    ])
    #expect(schema[0].string(0, 0) == nil)
    await session.close()
    let checkup = try Checkup(environment)
    checkup.expect("postgres", "failure", "database \(name) is encoded in \(encoding)")
    checkup.expect("postgres", "failure", "encoding 'UTF8' template template0")
    checkup.expect("schema", "skipped", "needs a database in UTF8")
  }

  @Test func `A superuser gets a warning, a separate owner does not`() async throws {
    let cluster = try await LocalCluster.shared()
    let conninfo = try await cluster.freshDatabase()
    let warned = try Command.ridepulse(["migrate", "--dry-run"], ["DATABASE_URL": conninfo])
    #expect(warned.errors.contains("role postgres is a superuser"))
    let start = try #require(warned.errors.range(of: "psql "))
    // The printed command works as described.
    let role = "owner_\(UInt32.random(in: 0 ... .max))"
    let command = warned.errors[start.lowerBound...].prefix { $0 != "." }
      .replacing("ridepulse_owner", with: role).replacing("psql", with: "psql \"$URL\"")
    let made = try Command.run("/bin/sh", ["-c", String(command)], ["URL": conninfo])
    #expect(made.status == 0, "\(made.errors)")
    let own = ["DATABASE_URL": conninfo.replacing("user=postgres", with: "user=\(role)")]
    let quiet = try Command.ridepulse(["migrate"], own)
    #expect(quiet.status == 0 && quiet.errors.isEmpty, "\(quiet.errors)")
    let session = try PostgresSession(conninfo: conninfo)
    let owners = try await session.run([
      Call(
        Statement(
          name: "",
          sql: """
            select string_agg(distinct proowner::regrole::text, ' ') from pg_proc
            where pronamespace = 'ridepulse'::regnamespace
            """))
    ])
    #expect(owners[0].string(0, 0) == role)
    try await session.script("drop owned by \(role) cascade; drop role \(role)")
    await session.close()
  }
}
