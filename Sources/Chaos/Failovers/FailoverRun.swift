import Base
import Foundation
import LocalStack
import PostgresStore
import RideCore

/// A run whose only fault is the loss of the primary, on a Patroni cluster.
struct FailoverRun {
  private let plan: ChaosOptions.Failovers
  private let patroni: LocalPatroni
  private let setup: RunSetup
  private let commits = CommitLog()
  private var numbers: SeededGenerator

  /// Performs the run; returns true if every invariant held.
  ///
  /// Otherwise the files of the run are kept.
  static func perform(_ plan: ChaosOptions.Failovers, _ options: ChaosOptions) async throws -> Bool
  {
    Console.print(
      "seed \(options.seed), \(plan.replication.rawValue) replication, \(plan.nodes) nodes, "
        + "\(options.rides) rides")
    var run = try await FailoverRun(plan, options)
    var hasHeld = false
    return try await withCleanup({ await run.end(hasHeld) }) {
      hasHeld = try await run.run()
      return hasHeld
    }
  }

  private init(_ plan: ChaosOptions.Failovers, _ options: ChaosOptions) async throws {
    self.plan = plan
    numbers = SeededGenerator(seed: options.seed)
    setup = try RunSetup(options)
    patroni = try await LocalPatroni(plan.replication)
  }

  private func end(_ hasHeld: Bool) async {
    setup.simulator.stop()
    patroni.copyLogs(to: setup.directory)
    await patroni.stop()
    setup.removeFiles(hasHeld: hasHeld)
  }

  private mutating func run() async throws -> Bool {
    let session = try PostgresSession(conninfo: patroni.url())
    _ = try await Migrations.apply(session: session)
    try await setup.prepare(session)
    let nodes = setup.nodes(plan.nodes, conninfo: patroni.url(), outages: Outages())
    for node in nodes { try await node.start() }
    let doctor = try await DoctorReport.read(
      setup.environment(of: "node-a", conninfo: patroni.url()), directory: setup.directory)
    let failovers = try await failOver(nodes)
    Console.print("waiting for the last verdict")
    if plan.replication == .asynchronous { try await endRides(session) }
    let evidence = try await setup.evidence(session, of: nodes)
    return FailoverReport(
      evidence, failovers, commits.steps, plan.replication, doctor,
      logs: nodes.map { "\(setup.directory)/\($0.name).log" }
    ).print()
  }

  /// Ends the rides whose end was lost, and which their producer therefore counts as over.
  private func endRides(_ session: PostgresSession) async throws {
    let rows = try await session.run([Call(Self.live)])[0]
    let runner = try StepRunner(
      conninfo: patroni.url(), incidents: setup.incidents, commits: commits)
    for row in 0..<rows.rowCount {
      guard let ride = rows.string(row, 0) else { continue }
      try await runner.perform([.state("ride_completed")], of: ride)
    }
    await runner.close()
  }

  private static let live = Statement(
    name: "chaos_live",
    sql: """
      select id from ridepulse.rides
      where state not in (\(ChaosRules.final.map { "'\($0)'" }.joined(separator: ", ")))
      """)

  /// Runs the fleet until all failovers are over.
  private mutating func failOver(_ nodes: [Node]) async throws -> [Failover] {
    let fleet = try setup.fleet(
      conninfo: patroni.url(), numbers: &numbers, commits: commits)
    let injector = FailoverInjector(patroni: patroni, incidents: setup.incidents)
    let kinds = FailoverInjector.kinds(plan.count)
    let end = EndOfRun()
    return try await withThrowingTaskGroup(of: [Failover].self) { group in
      for producer in fleet {
        group.addTask {
          var producer = producer
          try await producer.run(until: end)
          return []
        }
      }
      group.addTask {
        defer { end.comeNow() }
        var failovers: [Failover] = []
        for kind in kinds {
          // Rides begin, and verdicts are written, between two failovers.
          try await Task.sleep(for: .seconds(5))
          for node in nodes { try await node.supervise() }
          let failover = try await injector.perform(kind)
          FailoverReport.printProgress(failover, failovers.count + 1)
          failovers.append(failover)
        }
        try await Task.sleep(for: .seconds(5))
        return failovers
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
  }
}
