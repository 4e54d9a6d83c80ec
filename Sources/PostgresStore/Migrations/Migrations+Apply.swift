/// What was done about one step.
package struct MigrationReport: Hashable, Sendable {
  /// What happened to it.
  package enum Outcome: Hashable, Sendable {
    /// It has been in the database before.
    case present
    /// It was applied now.
    case applied
    /// Another node was quicker and applied it at the same time.
    case appliedElsewhere
    /// It would be applied; this was a dry run.
    case pending
  }

  /// The step.
  package let migration: Migration
  /// What happened to it.
  package let outcome: Outcome
}

extension Migrations {
  /// Applies the steps that are missing, each in a transaction of its own, and reports on all.
  ///
  /// Any number of nodes may do so at once. Steps that landed before an error stay.
  ///
  /// - Parameters:
  ///   - session: a connection whose user may create what the steps create.
  ///   - dryRun: only looks, and changes nothing.
  ///   - steps: the steps, in order.
  ///   - timeout: for each step, including the wait for other nodes.
  ///   - onStep: is told of each step right before it is applied.
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
    // The quicker node may carry another text under the same number.
    if lostRace {
      _ = try await makePlan(session, steps: steps, makesTable: false, timeout: timeout)
    }
    return reports
  }

  private static func land(
    _ step: Migration, checksum: String, _ session: PostgresSession, timeout: Duration
  ) async throws(MigrationError) -> MigrationReport.Outcome {
    let script = MigrationScript(step, checksum: checksum)
    do throws(PostgresError) {
      try await session.script(script.sql, timeout: timeout)
      return .applied
    } catch {
      if MigrationScript.saysAlreadyApplied(error) { return .appliedElsewhere }
      let line = error.server?.position.flatMap { script.line(ofPosition: $0) }
      throw .failed(name: step.name, line: line, error)
    }
  }
}
