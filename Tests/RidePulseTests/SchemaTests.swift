import Foundation
import LocalPostgres
import Testing
import TestSupport

/// What all migrations together make, as `pg_dump` prints it: a change of the schema shows in a diff.
@Suite(.timeLimit(.minutes(60))) struct SchemaTests {
  private static let golden = Project.path("Tests/RidePulseTests/Golden/schema.sql")

  @Test func `the schema is the recorded one`() async throws {
    let conninfo = try await LocalCluster.shared().freshDatabase()
    let migrated = try Command.ridepulse(["migrate"], ["DATABASE_URL": conninfo])
    #expect(migrated.status == 0, "\(migrated.errors)")
    // Partitions have the days of the test in their names.
    let dump = try Command.run(
      "/usr/bin/env",
      [
        "pg_dump", "--schema-only", "--no-owner", "--no-privileges", "--schema=ridepulse",
        "--exclude-table=ridepulse.ledger_2*", conninfo,
      ], ProcessInfo.processInfo.environment)
    #expect(dump.status == 0, "\(dump.errors)")
    let schema = Self.normalized(dump.output)
    try Golden.expect(schema, in: Self.golden)
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
