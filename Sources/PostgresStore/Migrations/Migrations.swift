internal import CMigrations

/// The outcome of one step.
package struct MigrationReport: Hashable, Sendable {
  /// The possible outcomes of a step.
  package enum Outcome: Hashable, Sendable {
    /// The step was in the database before.
    case present
    /// The step was applied now.
    case applied
    /// Another node applied the step at the same time.
    case appliedElsewhere
    /// The step would be applied; this was a dry run.
    case pending
  }

  package let migration: Migration
  package let outcome: Outcome
}

/// The schema of a database compared with this program's steps.
package struct SchemaState: Hashable, Sendable {
  /// The names of the steps that the database lacks.
  package let missing: [String]
  /// The names of the steps that a newer program applied; this program works with them.
  package let newer: [String]
}

/// Migrates a database to the schema that this program expects.
package enum Migrations {
  /// The program's built-in steps, in order: the files of `sql/`.
  package static var all: [Migration] {
    var found: [Migration] = []
    var index = 0
    while let entry = unsafe ridepulse_migration_at(index) {
      let name = unsafe entry.pointee.name.map { unsafe String(cString: $0) } ?? ""
      let text = unsafe entry.pointee.text.map { unsafe String(cString: $0) } ?? ""
      // None is left out: a test compares the list with the folder.
      if let step = Migration(name: name, sql: text) { found.append(step) }
      index += 1
    }
    return found.sorted { $0.number < $1.number }
  }

  /// Applies the missing steps, each in its own transaction, and reports on all.
  ///
  /// Any number of nodes may do so at the same time. Steps that were applied before an error stay.
  ///
  /// - Parameters:
  ///   - session: a connection whose user may create the objects of the steps.
  ///   - dryRun: only reports, and changes nothing.
  ///   - steps: the steps, in order.
  ///   - timeout: the limit for each step, including the wait for other nodes.
  ///   - onStep: called with each step right before it is applied.
  package static func apply(
    session: PostgresSession, dryRun: Bool = false, steps: [Migration] = all,
    timeout: Duration = .seconds(600), onStep: (Migration) -> Void = { _ in }
  ) async throws(MigrationError) -> [MigrationReport] {
    let plan = try await makePlan(session, steps: steps, makesTable: !dryRun, timeout: timeout)
    let pending = Set(plan.pending)
    var reports: [MigrationReport] = []
    var lostRace = false
    for step in steps {
      var outcome = MigrationReport.Outcome.present
      if pending.contains(step) {
        let checksum = plan.checksums[step.name] ?? ""
        if !dryRun { onStep(step) }
        outcome =
          dryRun
          ? .pending : try await land(step, checksum: checksum, session, timeout: timeout)
      }
      if outcome == .appliedElsewhere { lostRace = true }
      reports.append(MigrationReport(migration: step, outcome: outcome))
    }
    // The faster node may have another text under the same number.
    if lostRace {
      _ = try await makePlan(session, steps: steps, makesTable: false, timeout: timeout)
    }
    return reports
  }

  /// Compares the database with the program's steps, and changes nothing.
  package static func state(
    _ session: PostgresSession, steps: [Migration] = all
  ) async throws(MigrationError) -> SchemaState {
    let plan = try await makePlan(session, steps: steps, makesTable: false, timeout: .seconds(10))
    return SchemaState(missing: plan.pending.map(\.name), newer: plan.newer)
  }

  private static func land(
    _ step: Migration, checksum: String, _ session: PostgresSession, timeout: Duration
  ) async throws(MigrationError) -> MigrationReport.Outcome {
    let script = MigrationScript(step, checksum: checksum)
    do throws(PostgresError) {
      try await session.script(script.sql, timeout: timeout)
      return .applied
    } catch {
      if MigrationScript.isAlreadyApplied(error) { return .appliedElsewhere }
      if MigrationScript.lacksLock(error) {
        throw .locked(name: step.name, holders: (try? await MigrationLocks.holders(session)) ?? [])
      }
      let line = error.server?.position.flatMap { script.line(ofPosition: $0, in: session.schema) }
      throw .failed(name: step.name, line: line, error)
    }
  }

  private static let plan = Statement(
    name: "",
    sql: """
      select current_setting('server_version_num'), to_regnamespace('ridepulse') is not null,
        to_regclass('ridepulse.migrations') is not null,
        current_setting('server_encoding'), current_database()
      """)

  /// PostgreSQL computes the checksums, so that the program needs no hash function of its own. All
  /// texts in one statement would need temporary files, which a role may have none of.
  private static let checksum = Statement(
    name: "", sql: "select encode(sha256(convert_to($1::text, 'UTF8')), 'hex')")

  private static let landed = Statement(
    name: "", sql: "select name, checksum from ridepulse.migrations order by number")

  /// Compares the database with the steps; creates the table of applied steps if `makesTable`.
  static func makePlan(
    _ session: PostgresSession, steps: [Migration], makesTable: Bool, timeout: Duration
  ) async throws(MigrationError) -> MigrationPlan {
    let facts = try await one(session, Call(plan), timeout: timeout)
    try MigrationPlan.check(serverVersion: Int(facts.int64(0, 0) ?? 0))
    try MigrationPlan.check(encoding: facts.string(0, 3) ?? "", database: facts.string(0, 4) ?? "")
    var hasTable = facts.bool(0, 2) ?? false
    if !hasTable, makesTable {
      let schemaExists = facts.bool(0, 1) ?? false
      do throws(PostgresError) {
        try await session.script(
          MigrationScript.bootstrap(session.schema, exists: schemaExists), timeout: timeout)
      } catch {
        throw .database(error)
      }
      hasTable = true
    }
    let sums = try await all(session, steps.map { Call(checksum, [$0.sql]) }, timeout: timeout)
    let pairs = zip(steps, sums).map { ($0.name, $1.string(0, 0) ?? "") }
    return try MigrationPlan(
      steps: steps, checksums: Dictionary(pairs) { first, _ in first },
      landed: hasTable ? read(try await one(session, Call(landed), timeout: timeout)) : [])
  }

  private static func read(_ result: QueryResult) -> [MigrationPlan.Landed] {
    (0..<result.rowCount).map { row in
      MigrationPlan.Landed(
        name: result.string(row, 0) ?? "", checksum: result.string(row, 1) ?? "")
    }
  }

  private static func one(
    _ session: PostgresSession, _ call: Call, timeout: Duration
  ) async throws(MigrationError) -> QueryResult {
    guard let result = try await all(session, [call], timeout: timeout).first else {
      throw .database(PostgresError(.protocol(reason: "no result to a call")))
    }
    return result
  }

  private static func all(
    _ session: PostgresSession, _ calls: [Call], timeout: Duration
  ) async throws(MigrationError) -> [QueryResult] {
    do throws(PostgresError) {
      return try await session.run(calls, timeout: timeout)
    } catch {
      throw .database(error)
    }
  }
}
