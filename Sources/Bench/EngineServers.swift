import Foundation
import LocalStack
import PostgresStore

/// A durable private Postgres with rides and phones, and the strict simulator.
struct EngineServers {
  let cluster: LocalCluster
  let simulator: LocalSimulator
  let session: PostgresSession
  static let events = 50_000

  /// - Parameter options: Server settings, each as `name=value`.
  init(options: [String] = []) async throws {
    cluster = try await LocalCluster(durability: .real, options: options)
    simulator = try LocalSimulator(directory: cluster.directory + "/apns")
    try ServiceProcess.migrate(conninfo: cluster.url())
    session = try PostgresSession(conninfo: cluster.url())
  }

  func end() async {
    simulator.stop()
    await session.close()
    await cluster.stop()
  }

  /// Inserts rides and phones without events.
  func load() async throws {
    try await session.script(
      """
      set ridepulse.silent = 'on';
      insert into ridepulse.rides (id, state, customer_id, attributes)
      select 'ride-' || n, 'driver_en_route', 'customer-' || n, jsonb_build_object(
        'driver_name', 'Ana', 'plate', 'B-RP ' || n, 'eta_epoch', 1795248300)
      from generate_series(1, \(Self.events)) n;
      select ridepulse.register_device('customer', 'customer-' || n, md5(n::text) || md5(n::text))
      from generate_series(1, \(Self.events)) n;
      reset ridepulse.silent;
      analyze;
      checkpoint;
      """, timeout: .seconds(120))
  }

  /// Starts a service, and waits until it serves.
  func service() throws -> ServiceProcess {
    let service = try ServiceProcess(conninfo: cluster.url(), environment: simulator.environment)
    try service.waitUntilServing()
    return service
  }

  /// What 50,000 events took, and the CPU of all that they pass through.
  struct Drained {
    let seconds: Double
    let own: Double
    let postgres: Double
    let simulator: Double

    func figures(_ group: String, own ownGoal: String = "", postgres postgresGoal: String = "")
      -> [Figure]
    {
      let count = Double(EngineServers.events)
      func cpu(_ name: String, _ seconds: Double, goal: String = "") -> Figure {
        .cpu(group, name, seconds / count * 1e6, goal: goal)
      }
      return [
        cpu("ridepulse, CPU an event", own, goal: ownGoal),
        cpu("Postgres, CPU an event", postgres, goal: postgresGoal),
        cpu("simulator, CPU an event", simulator),
        cpu("time from event to event", seconds),
        .plain(group, "events/s", count / seconds, digits: 0),
      ]
    }
  }

  /// (b) Measures a backlog that commits at once, until the ledger shows the last push as accepted.
  func drain(_ services: [ServiceProcess]) async throws -> Drained {
    let postmaster = try cluster.postmasterID()
    try await session.script(
      """
      update ridepulse.rides set state = 'driver_arrived'
      where id in (select 'ride-' || n from generate_series(1, \(Self.events)) n)
      """, timeout: .seconds(120))
    let start = Date()
    let began = used(by: services, postmaster)
    try await waitUntilIdle()
    let ended = used(by: services, postmaster)
    let seconds = Date().timeIntervalSince(start)
    let accepted = try await session.run([Call(Self.accepted)])[0].int64(0, 0) ?? 0
    guard accepted == Self.events else {
      throw BenchFailure(text: "only \(accepted) of \(Self.events) pushes were accepted")
    }
    return Drained(
      seconds: seconds, own: ended.own - began.own, postgres: ended.postgres - began.postgres,
      simulator: ended.sink - began.sink)
  }

  /// CPU seconds so far of all that the events pass through.
  private func used(
    by services: [ServiceProcess], _ postmaster: Int32
  ) -> (own: Double, postgres: Double, sink: Double) {
    (
      services.reduce(0) { $0 + ProcessCost.cpuSeconds($1.processID) },
      ProcessCost.cpuSecondsOfTree(postmaster), ProcessCost.cpuSeconds(simulator.processID)
    )
  }

  /// Whether an event is left.
  static let busy = Statement(
    name: "bench_busy", sql: "select exists (select from ridepulse.events)")
  private static let accepted = Statement(
    name: "bench_accepted",
    sql: "select count(*) from ridepulse.ledger where status = 'accepted'")

  /// Waits until no event is left.
  func waitUntilIdle() async throws {
    while try await session.run([Call(Self.busy)])[0].bool(0, 0) ?? false {
      try await Task.sleep(for: .milliseconds(20))
    }
  }
}
