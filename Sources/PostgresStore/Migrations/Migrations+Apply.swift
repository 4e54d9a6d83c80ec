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

extension Migrations {
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
