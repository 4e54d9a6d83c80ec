import Base
import Foundation
import LocalStack
import RideCore

/// One kind of fault and the function that injects it.
struct PlannedFault: Sendable {
  /// The option that leaves the fault out; nil if the fault checks the options itself.
  let part: ChaosOptions.Part?
  let run: @Sendable (inout FaultInjector) async throws -> Void

  init(
    _ part: ChaosOptions.Part? = nil,
    _ run: @escaping @Sendable (inout FaultInjector) async throws -> Void
  ) {
    self.part = part
    self.run = run
  }
}

/// Injects one kind of fault until the run's end, and undoes it then.
struct FaultInjector {
  let end: ContinuousClock.Instant
  let without: Set<ChaosOptions.Part>
  var numbers: SeededGenerator
  let incidents: IncidentLog
  let outages: Outages
  /// The connection string of Postgres' superuser.
  let conninfo: String
  /// Opened at their first use, and closed by `inject`.
  private var openRunner: StepRunner?
  private var openAdmin: AdminSession?

  init(
    end: ContinuousClock.Instant, without: Set<ChaosOptions.Part>, numbers: SeededGenerator,
    incidents: IncidentLog, outages: Outages, conninfo: String
  ) {
    self.end = end
    self.without = without
    self.numbers = numbers
    self.incidents = incidents
    self.outages = outages
    self.conninfo = conninfo
  }

  /// Injects a fault until the run's end.
  func inject(_ fault: PlannedFault) async throws {
    var injector = self
    try await fault.run(&injector)
    await injector.openRunner?.close()
    await injector.openAdmin?.close()
  }

  mutating func runner() throws -> StepRunner {
    let runner = try openRunner ?? StepRunner(conninfo: conninfo, incidents: incidents)
    openRunner = runner
    return runner
  }

  mutating func admin() throws -> AdminSession {
    let admin = try openAdmin ?? AdminSession(conninfo: conninfo)
    openAdmin = admin
    return admin
  }

  /// Sleeps for a while, at most until the end; returns false once the end has come.
  func rest(_ milliseconds: Int) async throws -> Bool {
    let limit = min(.now + .milliseconds(milliseconds), end)
    try await ContinuousClock().sleep(until: limit)
    return .now < end
  }

  /// Waits for the next outage of one of these kinds, at most this many milliseconds.
  ///
  /// - Returns: false once the end has come.
  func waitForOutage(_ kinds: Set<Outages.Kind>, atMost milliseconds: Int) async throws -> Bool {
    let before = outages.count(of: kinds)
    let limit = ContinuousClock.now + .milliseconds(milliseconds)
    while outages.count(of: kinds) == before, .now < limit {
      if try await !rest(50) { return false }
    }
    return true
  }

  /// Kills or pauses a node at random intervals, and restarts a process that has ended.
  mutating func disturb(_ node: Node) async throws {
    var next = ContinuousClock.now + .milliseconds(Int.random(in: 2_000...8_000, using: &numbers))
    while try await rest(200) {
      try await node.supervise()
      if .now < next { continue }
      if Int.random(in: 0..<10, using: &numbers) < 6 {
        let delay = Int.random(in: 0...3_000, using: &numbers)
        if !without.contains(.kill) { await node.kill9() }
        if try await !rest(delay) { break }
      } else {
        let length = pause()
        if !without.contains(.pause) { await node.pause(for: .milliseconds(length)) }
      }
      next = .now + .milliseconds(Int.random(in: 3_000...15_000, using: &numbers))
    }
    // `takeDown` may have killed it a moment ago, and keeps it down for seconds: without a node, the
    // parts that wait for one would never end.
    repeat {
      try await Task.sleep(for: .milliseconds(500))
    } while try await !node.supervise()
  }

  /// Kills or pauses both nodes together for some seconds, as a deployment does.
  mutating func takeDown(_ nodes: [Node]) async throws {
    while try await rest(Int.random(in: 6_000...22_000, using: &numbers)) {
      let isKill = Bool.random(using: &numbers)
      let length = Duration.milliseconds(Int.random(in: 2_000...6_000, using: &numbers))
      if without.contains(isKill ? .kill : .pause) { continue }
      let start = IncidentLog.now
      outages.begin(.bothNodes)
      await withTaskGroup { group in
        for node in nodes {
          group.addTask {
            if isKill { await node.kill9(downFor: length) } else { await node.pause(for: length) }
          }
        }
      }
      if isKill, try await !rest(Int(length.components.seconds * 1_000)) { break }
      incidents.record(.bothNodes, from: start, to: IncidentLog.now, isKill ? "killed" : "paused")
    }
  }

  /// Returns the length of a pause in milliseconds: often short, sometimes longer than the deadline
  /// of an answer, sometimes longer than the lease of 20 s.
  private mutating func pause() -> Int {
    switch Int.random(in: 0..<10, using: &numbers) {
    case 0..<5: Int.random(in: 100...4_000, using: &numbers)
    case 5..<8: Int.random(in: 4_000...19_000, using: &numbers)
    default: Int.random(in: 20_500...30_000, using: &numbers)
    }
  }

  /// Restarts Postgres, in most cases as a crash would.
  ///
  /// Recovery may need space for the ledger: if Postgres does not start on a full disk, the disk is
  /// emptied first, as an operator would do.
  mutating func restart(_ cluster: LocalCluster, ledgerOn volume: LedgerVolume?) async throws {
    while try await rest(Int.random(in: 5_000...30_000, using: &numbers)) {
      let isCrash = Int.random(in: 0..<4, using: &numbers) > 0
      let start = IncidentLog.now
      outages.begin(.database)
      do {
        try await cluster.restart(isCrash ? .immediate : .fast)
      } catch {
        guard try volume?.empty() == true else { throw error }
        try await cluster.start()
      }
      incidents.record(.restart, from: start, to: IncidentLog.now, isCrash ? "immediate" : "fast")
    }
  }

  /// Sets faults of the simulator, with intervals without faults.
  mutating func setFaults(of simulator: SimulatorControl) async throws {
    while try await rest(Int.random(in: 300...2_000, using: &numbers)) {
      let faults = SimulatorFault.some(of: simulator.service, &numbers)
      let start = IncidentLog.now
      try await simulator.set(faults)
      let continues = try await rest(Int.random(in: 1_000...5_000, using: &numbers))
      try await simulator.set([])
      incidents.record(
        .faults, from: start, to: IncidentLog.now,
        "\(simulator.service.rawValue): \(faults.map(\.json).joined(separator: ", "))")
      if !continues { break }
    }
  }

  /// Silences one service after the other for some seconds.
  mutating func silence(_ simulators: [SimulatorControl]) async throws {
    while try await rest(Int.random(in: 8_000...15_000, using: &numbers)) {
      guard let simulator = simulators.randomElement(using: &numbers) else { return }
      let start = IncidentLog.now
      try await simulator.set([.silence])
      let continues = try await rest(Int.random(in: 5_000...20_000, using: &numbers))
      try await simulator.set([])
      incidents.record(.outage, from: start, to: IncidentLog.now, simulator.service.rawValue)
      if !continues { break }
    }
  }
}

// Changes to rides while nodes or Postgres are down.
extension FaultInjector {
  /// Emits events for a ride whose customer has 5,000 phones.
  mutating func notifyCrowd() async throws {
    let runner = try runner()
    var ride = SpecialRide("crowd", seed: numbers.next())
    try await runner.perform(ride.begin(), of: ride.id)
    for first in stride(from: 1, to: 5_000, by: 500) {
      try await runner.perform(
        [.phones(app: "customer", owner: ride.customer, numbers: first...first + 499)], of: ride.id)
    }
    while try await waitForOutage(Set(Outages.Kind.allCases), atMost: 20_000) {
      try await runner.perform([.emit("news", data: #"{"text": "to all"}"#)], of: ride.id)
      incidents.record(.crowd, from: IncidentLog.now)
      if try await !rest(Int.random(in: 15_000...30_000, using: &numbers)) { break }
    }
    try await runner.perform(ride.end(), of: ride.id)
  }

  /// Commits 5,000 events of one ride while no node runs.
  mutating func commitBursts() async throws {
    let runner = try runner()
    var number = 0
    while try await waitForOutage([.bothNodes], atMost: 25_000) {
      number += 1
      var ride = SpecialRide("burst-\(number)", seed: numbers.next())
      let start = IncidentLog.now
      try await runner.perform(ride.begin(), of: ride.id)
      try await runner.perform([.burst(5_000)], of: ride.id)
      incidents.record(.burst, from: start, to: IncidentLog.now, ride.id)
      let continues = try await rest(Int.random(in: 40_000...80_000, using: &numbers))
      try await runner.perform(ride.end(), of: ride.id)
      if !continues { break }
    }
  }

  /// Assigns rides to other drivers at the beginning of each outage.
  mutating func reassignDrivers() async throws {
    let runner = try runner()
    var number = 0
    var rides: [SpecialRide] = []
    repeat {
      for _ in rides.indices {
        var ride = rides.removeFirst()
        for steps in ride.reassign() { try await runner.perform(steps, of: ride.id) }
        incidents.record(.reassignment, from: IncidentLog.now, ride.id)
        // A third of the rides end with this driver, the others continue.
        if Int.random(in: 0..<3, using: &numbers) == 0 {
          try await runner.perform(ride.end(), of: ride.id)
        } else {
          rides.append(ride)
        }
      }
      while rides.count < 4 {
        number += 1
        var ride = SpecialRide("reassigned-\(number)", seed: numbers.next())
        try await runner.perform(ride.begin(), of: ride.id)
        try await runner.perform([.state("driver_assigned")], of: ride.id)
        rides.append(ride)
      }
    } while try await waitForOutage(Set(Outages.Kind.allCases), atMost: 15_000)
    for ride in rides { try await runner.perform(ride.end(), of: ride.id) }
  }
}
