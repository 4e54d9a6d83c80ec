import Base
import Foundation
import LocalStack
import PostgresStore
import RideCore

/// What each kind of run has: a directory, the rules, two simulators, nodes, a fleet, and its evidence.
struct RunSetup {
  let directory: String
  let simulator: LocalSimulator
  let fcmSimulator: LocalFCMSimulator
  /// The `ridepulse` of this build.
  let program: String
  let incidents = IncidentLog()
  private let options: ChaosOptions
  private let start = IncidentLog.now

  init(_ options: ChaosOptions) throws {
    self.options = options
    program = try options.debugBuild ?? ServiceBinary.path()
    directory = NSTemporaryDirectory() + "ridepulse-chaos-\(UUID().uuidString)"
    let rules = directory + "/rules"
    try FileManager.default.createDirectory(atPath: rules, withIntermediateDirectories: true)
    try Data(ChaosRules.yaml.utf8).write(to: URL(fileURLWithPath: rules + "/chaos.yaml"))
    simulator = try LocalSimulator(directory: directory + "/apns")
    fcmSimulator = try LocalFCMSimulator(directory: directory + "/fcm")
  }

  /// Creates what the fleet and the nodes need besides the engine's schema.
  func prepare(_ session: PostgresSession) async throws {
    for script in [StepRunner.schema, EngineRole.script] { try await session.script(script) }
  }

  func nodes(
    _ count: Int = Node.hosts.count, program: String? = nil, conninfo: String, outages: Outages
  ) -> [Node] {
    Node.hosts.keys.sorted().prefix(count).map { name in
      Node(
        name: name, program: program ?? self.program,
        environment: environment(of: name, conninfo: conninfo), directory: directory,
        incidents: incidents, outages: outages)
    }
  }

  func environment(of node: String, conninfo: String) -> [String: String] {
    // The name in the URL tells the nodes apart in the records.
    let host = Node.hosts[node] ?? "127.0.0.1"
    let url = simulator.url.replacing("127.0.0.1", with: host)
    let services = simulator.environment.merging(fcmSimulator.environment) { $1 }
    return services.merging([
      "DATABASE_URL": EngineRole.conninfo(conninfo),
      "RIDEPULSE_SCHEDULES": directory + "/rules", "APNS_PRODUCTION_URL": url,
      "FCM_URL": fcmSimulator.url.replacing("127.0.0.1", with: host),
      "RIDEPULSE_ADMIN": "127.0.0.1:0", "RIDEPULSE_TEST_DECISIONS": "1",
    ]) { $1 }
  }

  /// Returns four producers that share the rides.
  func fleet(
    conninfo: String, numbers: inout SeededGenerator, commits: CommitLog? = nil
  ) throws -> [Producer] {
    let names = ["a", "b", "c", "d"]
    return try names.enumerated().map { index, name in
      let share = options.rides / names.count + (index < options.rides % names.count ? 1 : 0)
      return try Producer(
        name: name, conninfo: conninfo, rides: share,
        hasStarts: !options.without.contains(.starts),
        hasAndroid: !options.without.contains(.android),
        regions: options.without.contains(.locales) ? .usual : .unusual, seed: numbers.next(),
        incidents: incidents, commits: commits)
    }
  }

  /// Waits until no work is left, stops the nodes, and reads what happened.
  func evidence(_ session: PostgresSession, of nodes: [Node]) async throws -> Evidence {
    let drain = WorkDrain(session: session, incidents: incidents, records: simulator.records)
    try await drain.wait(for: nodes)
    for node in nodes { await node.stop() }
    let evidence = try await Evidence.read(
      session, records: simulator.records, fcmRecords: fcmSimulator.records,
      incidents: incidents, start: start)
    try evidence.write(to: directory)
    await session.close()
    return evidence
  }

  /// Deletes the directory if every invariant held and no option keeps it.
  func removeFiles(hasHeld: Bool) {
    if options.keeps || !hasHeld {
      Console.print("\nrequests, logs and ledger of this run: \(directory)")
    } else {
      try? FileManager.default.removeItem(atPath: directory)
    }
  }
}
