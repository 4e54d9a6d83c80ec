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
    let (session, steps) = (session, steps)
    let applying = Task { try await Migrations.apply(session: session, steps: steps) }
    try await other.wait(until: waitingForAdvisoryLock, is: "1")
    #expect(try await other.value("select count(*) from one") == "1")
    await other.close()
    #expect(outcomes(try await applying.value) == [.present, .applied])
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

  /// The digests and names of the files of 0.1.0, which are never edited.
  private static func released() throws -> [String] {
    try String(
      contentsOfFile: Project.path("Tests/PostgresStoreTests/Golden/migrations-0.1.0.txt"),
      encoding: .utf8
    ).split(separator: "\n").map(String.init)
  }

  /// They may be in any database: a change of one, even of a comment, would be refused there as edited.
  @Test func `R109: the released files are as they were`() throws {
    let released = try Self.released()
    let digests = Migrations.all.prefix(released.count).map { step in
      SHA256.digest(step.sql.utf8).map { byte in
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }.joined() + " " + step.name
    }
    #expect(digests == released && released.count == 31)
  }

  /// 0001_rides of before the fold.
  @Test func `a database of a build before the fold is refused with what to do`() async throws {
    _ = try await Migrations.apply(session: session, steps: [])
    try await session.script(
      """
      insert into ridepulse.migrations (number, name, checksum) values (1, '0001_rides',
        'd97e02be8993598d4d71aae2914f0aa340838cd16316a02a079b0bd3c56a7dae')
      """)
    let error = await #expect(throws: MigrationError.edited(names: ["0001_rides"])) {
      try await Migrations.apply(session: session)
    }
    #expect(error?.description.contains("create a new database") == true)
  }

  /// Later files replace functions, which is how a schema in use changes.
  @Test func `each SQL object of 0.1.0 is defined once`() throws {
    let pattern =
      #/
      ^create\ (?:or\ replace\ )?(?:unlogged\ |constraint\ )?
      (?<object>(?:function|view|table|trigger|type)\ [\w.]+(?:.*\ on\ ridepulse\.\w+)?)
      /#.anchorsMatchLineEndings()
    var counts: [Substring: Int] = [:]
    for step in try Migrations.all.prefix(Self.released().count) {
      for match in step.sql.matches(of: pattern) { counts[match.object, default: 0] += 1 }
      // What a step removes or rewrites is not where a reader looks for it.
      for word in ["\ncreate or replace ", "pg_get_functiondef", "pg_get_viewdef", "\ndrop "] {
        #expect(!step.sql.contains(word), "\(step.name): \(word)")
      }
    }
    #expect(counts["function ridepulse.emit"] == 1 && counts["table ridepulse.nodes"] == 1)
    #expect(counts["trigger removed after delete on ridepulse.rides"] == 1)
    #expect(counts.filter { $1 > 1 } == [:])
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

  @Test func `R109: a step that can't have a lock is rolled back, and names who holds it`()
    async throws
  {
    _ = try await Migrations.apply(session: session)
    let locking = try Self.step(
      "9999_locking",
      """
      create table ridepulse.later ();
      set local lock_timeout = '100ms';
      alter table ridepulse.ledger add column later integer
      """)
    let steps = Migrations.all + [locking]
    let report = try PostgresSession(conninfo: url, applicationName: "a report")
    let pid = try await report.value("select pg_backend_pid()") ?? ""
    let reading = report.begin(
      "select pg_sleep(600), (select count(*) from ridepulse.ledger_default)")
    let observer = try PostgresSession(conninfo: url)
    try await observer.waitUntilSleeping(pid)
    let error = await #expect(throws: MigrationError.self) {
      try await Migrations.apply(session: session, steps: steps)
    }
    guard case .locked("9999_locking", let holders)? = error else {
      Issue.record("got \(String(describing: error))")
      return
    }
    #expect(holders.map(\.name) == ["a report"])
    let text = error?.description ?? ""
    #expect(text.contains("Run ridepulse migrate again when it has ended"), "\(text)")
    #expect(text.hasSuffix("process \(pid) (a report)"), "\(text)")
    #expect(try await observer.value("select to_regclass('ridepulse.later')") == nil)
    _ = try await observer.value("select pg_cancel_backend($1::int)", [pid])
    // It has its lock until it has ended, and the step waits for 100 ms.
    _ = await reading.value
    let again = try await Migrations.apply(session: session, steps: steps)
    #expect(again.last?.outcome == .applied)
    for session in [report, observer] { await session.close() }
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
