import Base
import Foundation
import RideCore
import Testing
import TestSupport

@testable import PostgresStore

@Suite(.timeLimit(.minutes(60))) struct MigrationTests {
  private static func step(_ name: String, _ sql: String) throws -> Migration {
    try #require(Migration(name: name, sql: sql))
  }

  private let steps: [Migration]
  private let url: String
  private let session: PostgresSession

  init() async throws {
    steps = [
      try Self.step("0001_one", "create table one (n int); insert into one values (1);"),
      try Self.step("0002_two's", "-- it's\ninsert into one values (2);\n"),
    ]
    url = try await makeDatabase()
    session = try PostgresSession(conninfo: url)
  }

  private func outcomes(_ reports: [MigrationReport]) -> [MigrationReport.Outcome] {
    reports.map(\.outcome)
  }

  @Test func `steps are applied once and remembered`() async throws {
    let first = try await Migrations.apply(session: session, steps: steps)
    #expect(outcomes(first) == [.applied, .applied])
    #expect(first.map(\.migration) == steps)
    let second = try await Migrations.apply(session: session, steps: steps)
    #expect(outcomes(second) == [.present, .present])
    #expect(try await session.value("select string_agg(n::text, ',') from one") == "1,2")
  }

  @Test func `a dry run lists and changes nothing`() async throws {
    let reports = try await Migrations.apply(session: session, dryRun: true, steps: steps)
    #expect(outcomes(reports) == [.pending, .pending])
    #expect(try await session.value("select to_regnamespace('ridepulse')") == nil)
    _ = try await Migrations.apply(session: session, steps: Array(steps.prefix(1)))
    let later = try await Migrations.apply(session: session, dryRun: true, steps: steps)
    #expect(outcomes(later) == [.present, .pending])
    #expect(try await session.value("select count(*) from one") == "1")
  }

  @Test func `eight nodes at once apply each step once`() async throws {
    let (url, steps) = (url, steps)
    let all = try await withThrowingTaskGroup(of: [MigrationReport].self) { group in
      for _ in 0..<8 {
        group.addTask {
          let node = try PostgresSession(conninfo: url)
          return try await Migrations.apply(session: node, steps: steps)
        }
      }
      return try await group.reduce(into: [MigrationReport]()) { $0 += $1 }
    }
    #expect(all.count == 16)
    #expect(all.count { $0.outcome == .applied } == 2)
    #expect(all.allSatisfy { $0.outcome != .pending })
    #expect(try await session.value("select count(*) from one") == "2")
  }

  @Test func `a step waits for whoever holds the lock`() async throws {
    _ = try await Migrations.apply(session: session, steps: Array(steps.prefix(1)))
    let other = try PostgresSession(conninfo: url)
    try await other.script("select pg_advisory_lock(\(MigrationScript.lock))")
    let error = await #expect(throws: MigrationError.self) {
      try await Migrations.apply(session: session, steps: steps, timeout: .seconds(3))
    }
    guard case .failed(_, _, let cause) = error, cause.kind == .timeout(sent: true) else {
      Issue.record("got \(String(describing: error))")
      return
    }
    await other.close()
    #expect(outcomes(try await Migrations.apply(session: session, steps: steps)).count == 2)
    #expect(try await session.value("select count(*) from one") == "2")
  }

  @Test func `a file that was edited after it landed is refused`() async throws {
    _ = try await Migrations.apply(session: session, steps: steps)
    let edited = [try Self.step("0001_one", "create table one (n bigint)"), steps[1]]
    await #expect(throws: MigrationError.edited(names: ["0001_one"])) {
      try await Migrations.apply(session: session, steps: edited)
    }
  }

  @Test func `R109: a program works with the schema of a newer one`() async throws {
    _ = try await Migrations.apply(session: session, steps: steps)
    let older = Array(steps.prefix(1))
    let reports = try await Migrations.apply(session: session, steps: older)
    #expect(outcomes(reports) == [.present])
    let state = try await Migrations.state(session, steps: older)
    #expect(state == SchemaState(missing: [], newer: ["0002_two's"]))
  }

  @Test func `a database of another line of programs is refused`() async throws {
    _ = try await Migrations.apply(session: session, steps: steps)
    let other = [steps[0], try Self.step("0002_other", "create table other ()")]
    await #expect(throws: MigrationError.unknown(names: ["0002_two's"])) {
      try await Migrations.apply(session: session, steps: other)
    }
  }

  /// The applied files may be in any database: a change of one, even of a comment, would be refused
  /// there as edited.
  @Test func `R109: the files of the first release are as they were released`() throws {
    let released = Migrations.all.filter { $0.number <= 19 }
    let digests = released.map { step in
      SHA256.digest(step.sql.utf8).map { byte in
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }.joined() + " " + step.name
    }
    let recorded = Project.path("Tests/PostgresStoreTests/Golden/migrations-0.1.0.txt")
    let expected = try String(contentsOfFile: recorded, encoding: .utf8)
    #expect(digests == expected.split(separator: "\n").map(String.init))
  }

  @Test func `a failing step is rolled back whole and names its line`() async throws {
    let broken = try Self.step(
      "0003_broken", "insert into one values (3);\n-- ü€\n\nselect nothing from one;")
    let error = await #expect(throws: MigrationError.self) {
      try await Migrations.apply(session: session, steps: steps + [broken])
    }
    guard case .failed("0003_broken", 4, let cause) = error else {
      Issue.record("got \(String(describing: error))")
      return
    }
    #expect(cause.server?.sqlState == "42703")
    #expect(try await session.value("select count(*) from one") == "2")
    #expect(try await session.value("select count(*) from ridepulse.migrations") == "2")
  }

  @Test func `R109: a step waits 2 s for all its locks together, and names who holds them`()
    async throws
  {
    _ = try await Migrations.apply(
      session: session, steps: Migrations.all.filter { $0.number < 22 })
    let observer = try PostgresSession(conninfo: url)
    let reports = try ["first", "last"].map { name in
      try PostgresSession(conninfo: url, applicationName: "report of \(name)")
    }
    // The first and the last day that the migration locks.
    var pids: [String] = []
    for (report, order) in zip(reports, ["asc", "desc"]) {
      let day = try await observer.value(
        """
        select relid::regclass from pg_partition_tree('ridepulse.ledger') where isleaf
        order by relid::oid \(order) limit 1
        """)
      let pid = try await report.value("select pg_backend_pid()") ?? ""
      _ = report.begin("select pg_sleep(60), (select count(*) from \(day ?? ""))")
      try await observer.waitUntilSleeping(pid)
      pids.append(pid)
    }
    let migrating = Task { () async -> MigrationError? in
      do throws(MigrationError) {
        _ = try await Migrations.apply(session: session)
        return nil
      } catch {
        return error
      }
    }
    try await observer.wait(
      until: """
        select count(*) from pg_locks where not granted and mode = 'AccessExclusiveLock'
          and database = (select oid from pg_database where datname = current_database())
        """, is: "1")
    // Neither holds its lock for 2 s of the wait, and both together do.
    for pid in pids {
      try await Task.sleep(for: .milliseconds(1500))  // poll: how long a lock is held is tested
      _ = try await observer.value("select pg_cancel_backend($1::int)", [pid])
    }
    let error = await migrating.value
    guard case .locked("0022_search", let holders)? = error else {
      Issue.record("got \(String(describing: error))")
      return
    }
    // On a busy machine the migration may give up before the first one has ended.
    #expect(holders.map(\.name).last == "report of last")
    let text = error?.description ?? ""
    #expect(text.contains("Run ridepulse migrate again when it has ended"), "\(text)")
    #expect(text.hasSuffix("process \(pids[1]) (report of last)"), "\(text)")
    #expect(try await observer.value("select to_regclass('ridepulse.revisions')") == nil)
    let again = try PostgresSession(conninfo: url)
    #expect(try await Migrations.apply(session: again).last?.outcome == .applied)
    for session in reports + [observer, again] { await session.close() }
  }

  @Test func `a user who may not create schemas uses one that was made`() async throws {
    let role = "limited_\(UInt32.random(in: 0 ... .max))"
    try await session.script(
      "create role \(role) login; create schema ridepulse authorization \(role);")
    let limited = try PostgresSession(
      conninfo: url.replacing("user=postgres", with: "user=\(role)"))
    let step = try Self.step("0001_one", "create table ridepulse.one ()")
    #expect(outcomes(try await Migrations.apply(session: limited, steps: [step])) == [.applied])
  }

  @Test func `a server before 14 is refused`() throws {
    #expect(throws: MigrationError.serverTooOld(version: 130_022)) {
      try MigrationPlan.check(serverVersion: 130_022)
    }
    try MigrationPlan.check(serverVersion: 140_000)
  }

  @Test func `the program carries the files of sql`() throws {
    let folder = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().appending(path: "../../sql").standardized
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".sql") }.sorted()
    let carried = Migrations.all
    #expect(carried.map { $0.name + ".sql" } == names)
    #expect(carried.map(\.number) == Array(1...names.count))
    for (step, name) in zip(carried, names) {
      #expect(try Data(contentsOf: folder.appending(path: name)) == Data(step.sql.utf8))
    }
  }

  @Test(arguments: ["one", "_one", "x1_one", "0_zero", "-1_minus"])
  func `a name without a number is no step`(name: String) {
    #expect(Migration(name: name, sql: "") == nil)
  }
}
