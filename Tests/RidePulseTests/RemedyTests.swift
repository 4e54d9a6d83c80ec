import Foundation
import PostgresStore
import TestSupport
import Testing

/// Tests that the SQL which is printed as a remedy is permitted to the role of the service.
@Suite("Remedies", .timeLimit(.minutes(60))) struct RemedyTests {
  /// Objects and verbs in the texts of the program, of the alerts and of the runbook, except those
  /// that name whose statement it is.
  private static func remedies() throws -> Set<String> {
    let files = FileManager.default.enumerator(atPath: Project.path("Sources/RidePulse"))
    let paths = (files?.compactMap { $0 as? String } ?? [])
      .filter { $0.hasSuffix(".swift") && !$0.hasPrefix("Demo/") }
      .map { Project.path("Sources/RidePulse/" + $0) }
    var found: Set<String> = []
    for path in paths + ["deploy/prometheus/alerts.yaml", "docs/runbook.md"].map(Project.path) {
      // Lines that continue a text are one.
      let text = try String(contentsOfFile: path, encoding: .utf8)
        .replacing(/"\s*\n\s*\+ "/, with: "").replacing("\\(Database.schema)", with: "ridepulse")
        .replacing("#", with: "")
      for line in text.split(separator: "\n")
      where !line.contains("as the table's owner") && !line.contains("from your backend")
        && !line.contains("as the schema's owner")
      {
        let pattern =
          /(select \* from|delete from|update|insert into|select|call) ridepulse\.([a-z_]+)/
        for match in line.matches(of: pattern) {
          found.insert("\(match.output.1) \(match.output.2)")
        }
        for match in line.matches(of: /then ridepulse\.([a-z_]+)/) {
          found.insert("call \(match.output.1)")
        }
      }
    }
    return found
  }

  @Test func `U17: the service's role may run each remedy that is printed`() async throws {
    let remedies = try Self.remedies()
    #expect(
      remedies.isSuperset(of: ["select * from quarantine", "select * from rotate_ledger"]),
      "\(remedies)")
    try await Stage.run { stage in
      #expect(
        try Command.ridepulse(["migrate", "--roles"], ["DATABASE_URL": stage.conninfo]).status == 0)
      for remedy in remedies.sorted() {
        let words = remedy.split(separator: " ")
        let (verb, name) = (words.first ?? "", words.last ?? "")
        let privilege =
          ["select": "select", "delete": "delete", "update": "update"][verb] ?? "insert"
        let permitted = try await stage.value(
          """
          select bool_and(p) from (
            select has_function_privilege('ridepulse_engine', oid, 'execute') as p from pg_proc
            where pronamespace = 'ridepulse'::regnamespace and proname = '\(name)'
            union all
            select has_table_privilege('ridepulse_engine', oid, '\(privilege)') from pg_class
            where relnamespace = 'ridepulse'::regnamespace and relname = '\(name)') o
          """)
        #expect(permitted == "t", "\(remedy)")
      }
    }
  }

  @Test
  func `U17: the service's role lifts a quarantine, unparks a ride, detaches a dropped table`()
    async throws
  {
    try await Stage.run { stage in
      _ = try Command.ridepulse(["migrate", "--roles"], ["DATABASE_URL": stage.conninfo])
      try await stage.addRide()
      try await stage.sql(
        """
        update ridepulse.devices set quarantined_at = now() where app = 'customer';
        create table gone (id text, status text);
        select ridepulse.watch('gone', '{"id": "id", "state": "status"}');
        drop table gone;
        set local role ridepulse_engine;
        select ridepulse.unquarantine('customer');
        select ridepulse.unpark('r1');
        select ridepulse.unwatch_missing()
        """)
      #expect(
        try await stage.value(
          "select count(*) from ridepulse.devices where quarantined_at is not null") == "0")
      #expect(try await stage.value("select count(*) from ridepulse.watched") == "0")
    }
  }
}
