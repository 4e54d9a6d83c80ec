import Foundation
import LocalStack
import PostgresStore

/// (e) Measures an APNs outage while a million events are committed: the memory of the service
/// meanwhile, and the outcome of the events afterwards.
struct BacklogBench: DatabaseBench {
  let database: BenchDatabase
  let apns: String
  private let rides = 1_000_000
  /// Longer than the validity of half of the events.
  private let outage: Duration = .seconds(150)

  init() async throws {
    database = try await BenchDatabase()
    apns = database.cluster.directory + "/apns"
  }

  func run() async throws {
    let simulator = try LocalSimulator(directory: apns)
    let port = simulator.url.split(separator: ":").last.map(String.init) ?? "0"
    let service = try ServiceProcess(conninfo: cluster.url(), environment: simulator.environment)
    defer { service.stop() }
    try service.waitUntilServing()
    simulator.stop()
    try await load()

    let postmaster = try cluster.postmasterID()
    let clock = ContinuousClock()
    let start = clock.now
    try await offer()
    let (own, postgres) = (
      ProcessCost.cpuSeconds(service.processID), ProcessCost.cpuSecondsOfTree(postmaster)
    )
    var largest = try await watch(service) { clock.now - start < outage }
    let seconds = (clock.now - start) / .seconds(1)
    let usedMeanwhile = (
      own: (ProcessCost.cpuSeconds(service.processID) - own) / seconds,
      postgres: (ProcessCost.cpuSecondsOfTree(postmaster) - postgres) / seconds
    )
    let before = try await verdicts()

    let again = try LocalSimulator(directory: apns, options: ["--port", port])
    defer { again.stop() }
    let back = clock.now
    largest = max(largest, try await watch(service) { try await isBusy() })
    let drained = (clock.now - back) / .seconds(1)

    Figures.head("APNs away for \(outage), \(rides) events committed meanwhile")
    Figures.row("largest resident MiB of ridepulse", Figures.number(largest), goal: "128")
    Figures.row("CPU of ridepulse while away, cores", Figures.number(usedMeanwhile.own, 2))
    Figures.row("CPU of Postgres while away, cores", Figures.number(usedMeanwhile.postgres, 2))
    Figures.row("seconds to drain once it is back", Figures.number(drained))
    for (status, count) in before { Figures.row("before it was back: \(status)", "\(count)") }
    for (status, count) in try await verdicts() { Figures.row("in the end: \(status)", "\(count)") }
    let records = try String(contentsOfFile: again.records, encoding: .utf8)
    let stale = records.split(separator: "\n").count { $0.contains("eta_changed") }
    Figures.row("sent though no longer true", "\(stale)", goal: "0")
  }

  /// Inserts rides and phones, bypassing the triggers that would emit events.
  private func load() async throws {
    try await session.script(
      """
      set session_replication_role = replica;
      insert into ridepulse.rides (id, state, customer_id, attributes)
      select 'ride-' || n, case when n % 2 = 0 then 'driver_en_route' else 'ride_completed' end,
        'customer-' || n, '{"driver_name": "Ana", "eta_epoch": 1795248300}'
      from generate_series(1, \(rides)) n;
      insert into ridepulse.devices (app, owner_id, token)
      select 'customer', 'customer-' || n, md5(n::text) || md5(n::text)
      from generate_series(1, \(rides)) n;
      reset session_replication_role;
      analyze;
      checkpoint;
      """, timeout: .seconds(300))
  }

  /// Inserts the events; half of them are valid for two minutes, half for an hour.
  private func offer() async throws {
    try await session.script(
      """
      insert into ridepulse.events (ride_id, event, data)
      select 'ride-' || n, case when n % 2 = 0 then 'eta_changed' else 'ride_completed' end,
        '{}'
      from generate_series(1, \(rides)) n
      """, timeout: .seconds(300))
  }

  /// Samples the service's memory while the condition holds; returns the maximum.
  private func watch(
    _ service: ServiceProcess, while goesOn: () async throws -> Bool
  ) async throws -> Double {
    var largest = 0.0
    while try await goesOn() {
      for _ in 0..<10 {
        largest = max(largest, ProcessCost.residentMiB(service.processID))
        try await Task.sleep(for: .milliseconds(200))
      }
    }
    return largest
  }

  private static let busy = Statement(
    name: "bench_backlog",
    sql: """
      select exists (select from ridepulse.events)
        or exists (select from ridepulse.ledger where status = 'pending')
      """)
  private static let verdicts = Statement(
    name: "bench_verdicts",
    sql: """
      select event || ' ' || status || coalesce(' (' || substring(reason from '^[a-z ]+') || ')', ''),
        count(*)
      from ridepulse.ledger where app = 'customer' group by 1 order by 1
      """)

  private func isBusy() async throws -> Bool {
    try await session.run([Call(Self.busy)])[0].bool(0, 0) ?? false
  }

  private func verdicts() async throws -> [(String, Int64)] {
    let rows = try await session.run([Call(Self.verdicts)], timeout: .seconds(60))[0]
    return (0..<rows.rowCount).map { (rows.string($0, 0) ?? "", rows.int64($0, 1) ?? 0) }
  }
}
