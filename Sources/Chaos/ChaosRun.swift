import Base
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
  /// The file system of the ledger; nil if disk faults are left out or the volume cannot be
  /// mounted.
  private let volume: LedgerVolume?
  private let setup: RunSetup
  private let upgrade: UpgradePlan?
  private let outages = Outages()
  private var numbers: SeededGenerator

  /// Performs the run; returns true if every invariant held.
  ///
  /// Otherwise the files of the run are kept.
  static func perform(_ options: ChaosOptions) async throws -> Bool {
    Console.print(
      "seed \(options.seed), faults for \(options.duration.rideText), \(options.rides) rides")
    var run = try await ChaosRun(options)
    var hasHeld = false
    return try await withCleanup({ await run.end(hasHeld) }) {
      hasHeld = try await run.run()
      return hasHeld
    }
  }

  private init(_ options: ChaosOptions) async throws {
    self.options = options
    let setup = try RunSetup(options)
    self.setup = setup
    upgrade = options.previous.map { UpgradePlan(previous: $0, current: setup.program) }
    numbers = SeededGenerator(seed: options.seed)
    clock = try FakeDatabaseClock(directory: setup.directory)
    if clock == nil { Console.print("no steps of Postgres' clock: libfaketime is not installed") }
    cluster = try await LocalCluster(durability: .real, environment: clock?.environment ?? [:])
    let isDiskFilled = !options.without.contains(.disk)
    volume =
      try isDiskFilled
      ? LedgerVolume(path: setup.directory + "/ledger-disk", cluster: cluster.directory) : nil
    if isDiskFilled, volume == nil {
      Console.print(
        "no file system can be mounted here: a trigger raises 53100 in place of a full disk")
    }
  }

  private func end(_ hasHeld: Bool) async {
    setup.simulator.stop()
    setup.fcmSimulator.stop()
    await cluster.stop()
    await volume?.unmount()
    setup.removeFiles(hasHeld: hasHeld)
  }

  private mutating func run() async throws -> Bool {
    let session = try PostgresSession(conninfo: cluster.url())
    try await migrate(session)
    try await setup.prepare(session)
    if !options.without.contains(.triggers) { try await session.script(Booking.attach) }
    for script in volume.map({ LedgerVolume.script(path: $0.path) }) ?? [] {
      try await session.script(script)
    }
    var queue: NotifyQueue?
    if options.fillsNotifyQueue, !options.without.contains(.notify) {
      Console.print("filling the NOTIFY queue with 8 GB")
      queue = try await NotifyQueue.filled(to: 1, conninfo: cluster.url())
    }
    let nodes = setup.nodes(
      program: upgrade?.previous, conninfo: cluster.url(), outages: outages)
    for node in nodes { try await node.start() }
    try await injectFaults(into: nodes, queue)
    if !options.without.contains(.hour) { try clock?.makeAllDue() }
    Console.print("faults off, both nodes running; waiting for the last verdict")
    let evidence = try await setup.evidence(session, of: nodes)
    return ChaosReport(evidence, ChaosReport.invariants(of: evidence)).print()
  }

  /// Applies the schema of the program that the nodes run first.
  private func migrate(_ session: PostgresSession) async throws {
    guard let upgrade else {
      _ = try await Migrations.apply(session: session)
      return
    }
    let isDone = try await UpgradePlan.migrate(
      with: upgrade.previous, conninfo: cluster.url(), log: migrationLog)
    if !isDone {
      throw ChaosFailure("\(upgrade.previous) migrate failed: \(migrationLog)")
    }
  }

  private var migrationLog: String { setup.directory + "/migrate.log" }

  /// Returns the faults to inject, each in its own task with its own random numbers.
  private func faults(for nodes: [Node], _ queue: NotifyQueue?) -> [PlannedFault] {
    let (cluster, clock, volume) = (cluster, clock, volume)
    let (upgrade, log) = (upgrade, migrationLog)
    let simulator = SimulatorControl(setup.simulator)
    let fcm = SimulatorControl(setup.fcmSimulator)
    return nodes.map { node in PlannedFault { try await $0.disturb(node) } } + [
      PlannedFault(.restart) { try await $0.restart(cluster, ledgerOn: volume) },
      PlannedFault(.clock) { if let clock { try await $0.step(clock) } },
      PlannedFault(.hour) { if let clock { try await $0.goBackAnHour(clock, nodes, simulator) } },
      PlannedFault(.faults) { try await $0.setFaults(of: simulator) },
      PlannedFault(.faults) { try await $0.setFaults(of: fcm) },
      PlannedFault(.outage) { try await $0.silence([simulator, fcm]) },
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
      PlannedFault(.decisions) { try await $0.poisonRides() },
      PlannedFault(.handover) { try await $0.handOverPhones(simulator) },
      PlannedFault(.triggers) { try await $0.writeBookings() },
      PlannedFault {
        guard let upgrade else { return }
        try await $0.upgrade(nodes, upgrade, ledgerOn: volume, log: log)
      },
    ]
  }

  /// Injects all faults at the same time until the run's duration has passed.
  private mutating func injectFaults(into nodes: [Node], _ queue: NotifyQueue?) async throws {
    let end = ContinuousClock.now + options.duration
    let fleet = try setup.fleet(conninfo: cluster.url(), numbers: &numbers)
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
      incidents: setup.incidents, outages: outages, conninfo: cluster.url())
  }
}
