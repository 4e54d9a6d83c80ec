import Foundation
import LocalStack
import PostgresStore
import RideCore

/// One run: it starts servers, nodes and fleet, injects faults, waits until all work is done, and
/// verifies the invariants.
struct ChaosRun {
  private let options: ChaosOptions
  private let cluster: LocalCluster
  private let clock: FakeDatabaseClock?
  private let simulator: LocalSimulator
  /// The file system of the ledger; nil if disk faults are left out or the volume cannot be
  /// mounted.
  private let volume: LedgerVolume?
  private let directory: String
  /// The binary of this build.
  private let program: String
  private let upgrade: UpgradePlan?
  private let incidents = IncidentLog()
  private let outages = Outages()
  private var numbers: SeededGenerator
  private let start = IncidentLog.now

  /// Performs the run; returns true if every invariant held.
  ///
  /// Otherwise the files of the run are kept.
  static func perform(_ options: ChaosOptions) async throws -> Bool {
    Console.print(
      "seed \(options.seed), faults for \(options.duration.rideText), \(options.rides) rides")
    var run = try await ChaosRun(options)
    var hasHeld = false
    return try await withCleanup({ await run.end(keeps: options.keeps || !hasHeld) }) {
      hasHeld = try await run.run()
      return hasHeld
    }
  }

  private init(_ options: ChaosOptions) async throws {
    self.options = options
    program = try ServiceBinary.path()
    upgrade = options.previous.map { [program] in UpgradePlan(previous: $0, current: program) }
    numbers = SeededGenerator(seed: options.seed)
    directory = NSTemporaryDirectory() + "ridepulse-chaos-\(UUID().uuidString)"
    let rules = directory + "/rules"
    try FileManager.default.createDirectory(atPath: rules, withIntermediateDirectories: true)
    try Data(ChaosRules.yaml.utf8).write(to: URL(fileURLWithPath: rules + "/chaos.yaml"))
    clock = try FakeDatabaseClock(directory: directory)
    if clock == nil { Console.print("no steps of Postgres' clock: libfaketime is not installed") }
    cluster = try await LocalCluster(durability: .real, environment: clock?.environment ?? [:])
    simulator = try LocalSimulator(directory: directory + "/apns")
    let isDiskFilled = !options.without.contains(.disk)
    volume =
      try isDiskFilled
      ? LedgerVolume(path: directory + "/ledger-disk", cluster: cluster.directory) : nil
    if isDiskFilled, volume == nil {
      Console.print(
        "no file system can be mounted here: a trigger raises 53100 in place of a full disk")
    }
  }

  private func end(keeps: Bool) async {
    simulator.stop()
    await cluster.stop()
    await volume?.unmount()
    if keeps {
      Console.print("\nrequests, logs and ledger of this run: \(directory)")
    } else {
      try? FileManager.default.removeItem(atPath: directory)
    }
  }

  private mutating func run() async throws -> Bool {
    let session = try PostgresSession(conninfo: cluster.url())
    try await migrate(session)
    for script in [StepRunner.schema, EngineRole.script] { try await session.script(script) }
    for script in volume.map({ LedgerVolume.script(path: $0.path) }) ?? [] {
      try await session.script(script)
    }
    var queue: NotifyQueue?
    if options.fillsNotifyQueue, !options.without.contains(.notify) {
      Console.print("filling the NOTIFY queue with 8 GB")
      queue = try await NotifyQueue.filled(to: 1, conninfo: cluster.url())
    }
    let nodes = Node.hosts.keys.sorted().map(node)
    for node in nodes { try await node.start() }
    try await injectFaults(into: nodes, queue)
    Console.print("faults off, both nodes running; waiting for the last verdict")
    let drain = WorkDrain(session: session, incidents: incidents, records: simulator.records)
    try await drain.wait(for: nodes)
    for node in nodes { await node.stop() }
    let evidence = try await Evidence.read(
      session, records: simulator.records, incidents: incidents, start: start)
    try evidence.write(to: directory)
    await session.close()
    return ChaosReport(evidence, ChaosReport.invariants(of: evidence)).print()
  }

  /// Applies the schema of the program that the nodes run first.
  private func migrate(_ session: PostgresSession) async throws {
    guard let upgrade else {
      _ = try await Migrations.apply(session: session)
      return
    }
    let isDone = try await UpgradePlan.migrate(
      with: upgrade.previous, conninfo: cluster.url(), log: directory + "/migrate.log")
    if !isDone {
      throw ChaosFailure("\(upgrade.previous) migrate failed: \(directory)/migrate.log")
    }
  }

  private func node(_ name: String) -> Node {
    let url = simulator.url.replacing("127.0.0.1", with: Node.hosts[name] ?? "127.0.0.1")
    let environment = simulator.environment.merging([
      "DATABASE_URL": EngineRole.conninfo(cluster.url()),
      "RIDEPULSE_SCHEDULES": directory + "/rules", "APNS_PRODUCTION_URL": url,
      "RIDEPULSE_ADMIN": "127.0.0.1:0",
    ]) { $1 }
    return Node(
      name: name, program: upgrade?.previous ?? program, environment: environment,
      directory: directory, incidents: incidents,
      outages: outages)
  }

  private mutating func fleet() throws -> [Producer] {
    let producers = 4
    return try (0..<producers).map { index in
      let share = options.rides / producers + (index < options.rides % producers ? 1 : 0)
      return try Producer(
        name: ["a", "b", "c", "d"][index], conninfo: cluster.url(), rides: share,
        hasStarts: !options.without.contains(.starts), seed: numbers.next(), incidents: incidents)
    }
  }

  /// Returns the faults to inject, each in its own task with its own random numbers.
  private func faults(for nodes: [Node], _ queue: NotifyQueue?) -> [PlannedFault] {
    let (cluster, clock, volume) = (cluster, clock, volume)
    let (upgrade, directory) = (upgrade, directory)
    let simulator = SimulatorControl(simulator)
    return nodes.map { node in PlannedFault { try await $0.disturb(node) } } + [
      PlannedFault(.restart) { try await $0.restart(cluster, ledgerOn: volume) },
      PlannedFault(.clock) { if let clock { try await $0.step(clock) } },
      PlannedFault(.faults) { try await $0.setFaults(of: simulator) },
      PlannedFault { try await $0.takeDown(nodes) },
      PlannedFault(.refusal) { try await $0.refuseRides() },
      PlannedFault(.disk) { try await $0.fillDisk(volume) },
      PlannedFault(.locks) { try await $0.lockPhones("a", simulator) },
      PlannedFault(.locks) { try await $0.lockPhones("b", simulator) },
      PlannedFault(.locks) { try await $0.lockPhoneTable() },
      PlannedFault(.notify) { try await $0.fillNotifyQueue(queue) },
      PlannedFault(.rights) { try await $0.revokeRights() },
      PlannedFault(.crowd) { try await $0.notifyCrowd() },
      PlannedFault(.burst) { try await $0.commitBursts() },
      PlannedFault(.reassign) { try await $0.reassignDrivers() },
      PlannedFault {
        guard let upgrade else { return }
        let log = directory + "/migrate.log"
        try await $0.upgrade(nodes, upgrade, ledgerOn: volume, log: log)
      },
    ]
  }

  /// Injects all faults at the same time until the run's duration has passed.
  private mutating func injectFaults(into nodes: [Node], _ queue: NotifyQueue?) async throws {
    let end = ContinuousClock.now + options.duration
    let fleet = try fleet()
    try await withThrowingTaskGroup { group in
      for producer in fleet {
        group.addTask {
          var producer = producer
          try await producer.run(until: EndOfRun(at: end))
        }
      }
      for planned in faults(for: nodes, queue) {
        // Injectors are created for omitted faults too, so that the others draw the same random
        // numbers.
        let injector = newInjector(until: end)
        if let part = planned.part, options.without.contains(part) { continue }
        group.addTask { try await injector.inject(planned) }
      }
      try await group.waitForAll()
    }
  }

  private mutating func newInjector(until end: ContinuousClock.Instant) -> FaultInjector {
    FaultInjector(
      end: end, without: options.without, numbers: SeededGenerator(seed: numbers.next()),
      incidents: incidents, outages: outages, conninfo: cluster.url())
  }
}
