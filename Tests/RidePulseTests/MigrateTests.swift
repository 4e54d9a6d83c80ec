import Foundation
import LocalPostgres
import PostgresStore
import Testing
import TestSupport

/// Tests of the refusals and warnings of `migrate`.
@Suite(.timeLimit(.minutes(60))) struct MigrateTests {
  @Test(arguments: ["SQL_ASCII", "LATIN1"])
  func `a database that can't hold every text is refused in clear words`(
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

  @Test func `a superuser is warned, and an owner of its own is not`() async throws {
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
