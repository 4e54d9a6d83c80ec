import Foundation
import LocalStack

/// Two versions of the program on one schema: an upgrade and a rollback during one run.
struct UpgradePlan: Sendable {
  /// The binary of the previous release.
  let previous: String
  /// The binary of this build.
  let current: String

  /// The equal parts of a run, in order. The schema is migrated between the first two.
  enum Phase: Int, CaseIterable {
    case previous, mixed, current, mixedAgain, rolledBack
  }

  /// Returns the phase after a share of the run, from 0 to 1.
  static func phase(after share: Double) -> Phase {
    let index = Int(share * Double(Phase.allCases.count))
    return Phase(rawValue: min(max(index, 0), Phase.allCases.count - 1)) ?? .rolledBack
  }

  /// Returns the binary that a node runs in a phase; the first nodes are replaced first.
  func program(of node: Int, in phase: Phase) -> String {
    switch phase {
    case .previous, .rolledBack: previous
    case .current: current
    case .mixed, .mixedAgain: node.isMultiple(of: 2) ? current : previous
    }
  }

  /// Applies a program's migrations as the schema's owner.
  ///
  /// - Parameter tablespace: where new indexes of the ledger belong; nil for the database's own.
  /// - Returns: Whether it succeeded; Postgres may be away, or its disk full, for the moment.
  static func migrate(
    with program: String, conninfo: String, tablespace: String? = nil, log: String
  ) async throws -> Bool {
    var environment = ["DATABASE_URL": conninfo]
    if let tablespace { environment["PGOPTIONS"] = "-c default_tablespace=\(tablespace)" }
    let process = try ChildProcess(
      [program, "migrate"], environment: environment, output: .log(log), errors: .log(log))
    await process.waitForEnd()
    return process.ending.map { !$0.isSignal && $0.status == 0 } ?? false
  }
}

extension FaultInjector {
  /// Migrates the schema and replaces the nodes' program, one node after another, at the beginning
  /// of each phase.
  mutating func upgrade(
    _ nodes: [Node], _ plan: UpgradePlan, ledgerOn volume: LedgerVolume?, log: String
  ) async throws {
    let start = ContinuousClock.now
    var phase = UpgradePlan.Phase.previous
    while try await rest(200) {
      let next = UpgradePlan.phase(after: (ContinuousClock.now - start) / (end - start))
      guard next != phase else { continue }
      if phase == .previous {
        let began = IncidentLog.now
        let isDone = try await UpgradePlan.migrate(
          with: plan.current, conninfo: conninfo,
          tablespace: volume.map { _ in LedgerVolume.tablespace }, log: log)
        guard isDone else { continue }
        try await grantEngine()
        incidents.record(.migration, from: began, to: IncidentLog.now)
      }
      phase = next
      for (index, node) in nodes.enumerated() {
        await node.replace(with: plan.program(of: index, in: phase))
      }
      incidents.record(.upgrade, from: IncidentLog.now, "\(phase)")
    }
  }

  /// Grants the engine's role what the migration has added, as `migrate --roles` does.
  private func grantEngine() async throws {
    let admin = try AdminSession(conninfo: conninfo)
    try await admin.executeUntilDone(EngineRole.grants)
    await admin.close()
  }
}
