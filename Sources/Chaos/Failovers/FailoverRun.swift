import Foundation
import LocalStack
import PostgresStore
import RideCore

/// A run whose only fault is the loss of the primary, on a Patroni cluster.
struct FailoverRun {
  private let plan: ChaosOptions.Failovers
  private let options: ChaosOptions
  private let patroni: LocalPatroni
  private let simulator: LocalSimulator
  private let directory: String
  /// The binary of the nodes.
  private let program: String
  private let incidents = IncidentLog()
  private let commits = CommitLog()
  private var numbers: SeededGenerator
  private let start = IncidentLog.now

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
    return try await withCleanup({ await run.end(keeps: options.keeps || !hasHeld) }) {
      hasHeld = try await run.run()
      return hasHeld
    }
  }

  private init(_ plan: ChaosOptions.Failovers, _ options: ChaosOptions) async throws {
    self.plan = plan
    self.options = options
    program = try ServiceBinary.path()
    numbers = SeededGenerator(seed: options.seed)
    directory = NSTemporaryDirectory() + "ridepulse-failovers-\(UUID().uuidString)"
    let rules = directory + "/rules"
    try FileManager.default.createDirectory(atPath: rules, withIntermediateDirectories: true)
    try Data(ChaosRules.yaml.utf8).write(to: URL(fileURLWithPath: rules + "/chaos.yaml"))
    simulator = try LocalSimulator(directory: directory + "/apns")
    patroni = try await LocalPatroni(plan.replication)
  }

  private func end(keeps: Bool) async {
    simulator.stop()
    if keeps { patroni.copyLogs(to: directory) }
    await patroni.stop()
    if keeps {
      Console.print("\nrequests, logs and ledger of this run: \(directory)")
    } else {
      try? FileManager.default.removeItem(atPath: directory)
    }
  }

  private mutating func run() async throws -> Bool {
    let session = try PostgresSession(conninfo: patroni.url())
    _ = try await Migrations.apply(session: session)
    for script in [StepRunner.schema, EngineRole.script] { try await session.script(script) }
    let nodes = Node.hosts.keys.sorted().prefix(plan.nodes).map(node)
    for node in nodes { try await node.start() }
    let doctor = try await DoctorReport.read(environment(of: "node-a"), directory: directory)
    let failovers = try await failOver(nodes)
    Console.print("waiting for the last verdict")
    if plan.replication == .asynchronous { try await endRides(session) }
    let drain = WorkDrain(session: session, incidents: incidents, records: simulator.records)
    try await drain.wait(for: nodes)
    for node in nodes { await node.stop() }
    let evidence = try await Evidence.read(
      session, records: simulator.records, incidents: incidents, start: start)
    try evidence.write(to: directory)
    await session.close()
    return FailoverReport(
      evidence, failovers, commits.steps, plan.replication, doctor,
      logs: nodes.map { "\(directory)/\($0.name).log" }
    ).print()
  }

  private func node(_ name: String) -> Node {
    Node(
      name: name, program: program, environment: environment(of: name), directory: directory,
      incidents: incidents, outages: Outages())
  }

  private func environment(of node: String) -> [String: String] {
    let url = simulator.url.replacing("127.0.0.1", with: Node.hosts[node] ?? "127.0.0.1")
    return simulator.environment.merging([
      "DATABASE_URL": EngineRole.conninfo(patroni.url()),
      "RIDEPULSE_SCHEDULES": directory + "/rules", "APNS_PRODUCTION_URL": url,
      "RIDEPULSE_ADMIN": "127.0.0.1:0",
    ]) { $1 }
  }

  /// Ends the rides whose end was lost, and which their producer therefore counts as over.
  private func endRides(_ session: PostgresSession) async throws {
    let rows = try await session.run([Call(Self.live)])[0]
    let runner = try StepRunner(conninfo: patroni.url(), incidents: incidents, commits: commits)
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

  private mutating func fleet() throws -> [Producer] {
    let names = ["a", "b", "c", "d"]
    return try names.enumerated().map { index, name in
      let share = options.rides / names.count + (index < options.rides % names.count ? 1 : 0)
      return try Producer(
        name: name, conninfo: patroni.url(), rides: share, hasStarts: true, seed: numbers.next(),
        incidents: incidents, commits: commits)
    }
  }

  /// Runs the fleet until all failovers are over.
  private mutating func failOver(_ nodes: [Node]) async throws -> [Failover] {
    let fleet = try fleet()
    let injector = FailoverInjector(patroni: patroni, incidents: incidents)
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
