import Foundation
import LocalPostgres
import PostgresStore
import RideCore

/// One run: servers, nodes, fleet and trouble, then quiet, then the proof.
struct ChaosRun {
  private let options: ChaosOptions
  private let cluster: LocalCluster
  private let clock: DatabaseClock?
  private let simulator: LocalSimulator
  private let directory: String
  private let diary = Diary()
  private var numbers: SeededGenerator
  private let start = Diary.now

  /// Runs and proves; true where everything held. What the run left behind stays where it did not.
  static func perform(_ options: ChaosOptions) async throws -> Bool {
    Say.line(
      "seed \(options.seed), trouble for \(options.duration.rideText), \(options.rides) rides")
    var run = try await ChaosRun(options)
    let result: Result<Bool, any Error>
    do {
      result = .success(try await run.run())
    } catch {
      result = .failure(error)
    }
    await run.end(keeps: options.keeps || (try? result.get()) != true)
    return try result.get()
  }

  private init(_ options: ChaosOptions) async throws {
    self.options = options
    numbers = SeededGenerator(seed: options.seed)
    directory = NSTemporaryDirectory() + "ridepulse-chaos-\(UUID().uuidString)"
    let rules = directory + "/rules"
    try FileManager.default.createDirectory(atPath: rules, withIntermediateDirectories: true)
    try Data(ChaosRules.yaml.utf8).write(to: URL(fileURLWithPath: rules + "/chaos.yaml"))
    clock = try DatabaseClock(directory: directory)
    if clock == nil { Say.line("no steps of Postgres' clock: libfaketime is not installed") }
    cluster = try await LocalCluster(durability: .real, environment: clock?.environment ?? [:])
    simulator = try LocalSimulator(directory: directory + "/apns")
  }

  private func end(keeps: Bool) async {
    simulator.stop()
    await cluster.stop()
    if keeps {
      Say.line("\nrequests, logs and ledger of this run: \(directory)")
    } else {
      try? FileManager.default.removeItem(atPath: directory)
    }
  }

  private mutating func run() async throws -> Bool {
    let session = try PostgresSession(conninfo: cluster.url())
    _ = try await Migrations.apply(session: session)
    try await session.script(StepDesk.schema)
    let environment = simulator.environment.merging([
      "DATABASE_URL": cluster.url(), "RIDEPULSE_SCHEDULES": directory + "/rules",
    ]) { $1 }
    let nodes = ["node-a", "node-b"].map {
      Node(name: $0, environment: environment, directory: directory, diary: diary)
    }
    for node in nodes { try await node.start() }
    try await trouble(nodes)
    Say.line("faults off, both nodes running; waiting for the last verdict")
    try await Quiet(session: session, diary: diary).wait(for: nodes)
    for node in nodes {
      let status = await node.stop()
      if status != 0 { diary.find("\(node.name) ended with status \(status) at SIGTERM") }
    }
    let evidence = try await Evidence.read(
      session, records: simulator.records, diary: diary, start: start)
    try evidence.keep(in: directory)
    await session.close()
    return ChaosReport(evidence).tell()
  }

  /// Everything at once until the time is over: fleet, kills, sleeps, restarts, faults.
  private mutating func trouble(_ nodes: [Node]) async throws {
    let end = ContinuousClock.now + options.duration
    let producers = 4
    var fleet: [Producer] = []
    for index in 0..<producers {
      let share = options.rides / producers + (index < options.rides % producers ? 1 : 0)
      fleet.append(
        try Producer(
          name: ["a", "b", "c", "d"][index], conninfo: cluster.url(), rides: share,
          hasStarts: !options.without.contains(.starts), seed: numbers.next()))
    }
    let (cluster, wire, clock) = (cluster, Wire(simulator), clock)
    try await withThrowingTaskGroup { group in
      for producer in fleet {
        group.addTask {
          var producer = producer
          try await producer.run(until: end)
        }
      }
      for node in nodes {
        var maker = newTroublemaker(until: end)
        group.addTask { try await maker.trouble(node) }
      }
      var restarter = newTroublemaker(until: end)
      group.addTask { try await restarter.trouble(cluster) }
      var clockmaker = newTroublemaker(until: end)
      if let clock { group.addTask { try await clockmaker.trouble(clock) } }
      var jammer = newTroublemaker(until: end)
      group.addTask { try await jammer.trouble(wire) }
      try await group.waitForAll()
    }
  }

  private mutating func newTroublemaker(until end: ContinuousClock.Instant) -> Troublemaker {
    Troublemaker(
      end: end, without: options.without, numbers: SeededGenerator(seed: numbers.next()),
      diary: diary)
  }
}

/// The time after the trouble: until nothing waits any more.
struct Quiet {
  let session: PostgresSession
  let diary: Diary
  private let limit: Duration = .seconds(180)

  init(session: PostgresSession, diary: Diary) {
    self.session = session
    self.diary = diary
  }

  private static let open = Statement(
    name: "chaos_open",
    sql: """
      select (select count(*) from ridepulse.events),
        (select count(*) from ridepulse.ledger where status = 'pending'),
        (select count(*) from ridepulse.agenda)
      """)

  /// Keeps both nodes running until every event is consumed, every push has its verdict, and no
  /// ride is on the agenda: all of them are over, and what is left there is still to be sent.
  func wait(for nodes: [Node]) async throws {
    let end = ContinuousClock.now + limit
    var left = "nobody could say"
    while ContinuousClock.now < end {
      var isServed = true
      for node in nodes { isServed = try await node.supervise() && isServed }
      if let row = try? await session.run([Call(Self.open)])[0] {
        let counts = (0..<3).map { row.int64(0, $0) ?? 0 }
        if isServed, counts.allSatisfy({ $0 == 0 }) { return }
        left = "\(counts[0]) events, \(counts[1]) pending pushes, \(counts[2]) rides on the agenda"
      }
      try await Task.sleep(for: .milliseconds(200))
    }
    diary.find("not quiet after \(limit.rideText): \(left)")
  }
}
