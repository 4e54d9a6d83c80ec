import Foundation
import LocalStack
import PostgresStore
import RideCore

/// (b) to (d) Measures the whole engine: `ridepulse serve` with a durable private Postgres and the
/// strict simulator.
struct EngineBench: ServerBench {
  let cluster: LocalCluster
  let simulator: LocalSimulator
  let session: PostgresSession
  private let events = 50_000
  /// After this time without work the service has returned the memory that it does not need.
  private static let rest: Duration = .seconds(6)

  init() async throws {
    cluster = try await LocalCluster(durability: .real)
    simulator = try LocalSimulator(directory: cluster.directory + "/apns")
    try ServiceProcess.migrate(conninfo: cluster.url())
    session = try PostgresSession(conninfo: cluster.url())
  }

  func end() async {
    simulator.stop()
    await session.close()
    await cluster.stop()
  }

  func run() async throws -> [Figure] {
    try await load()
    let service = try ServiceProcess(conninfo: cluster.url(), environment: simulator.environment)
    defer { service.stop() }
    try service.waitUntilServing()
    // The rides were inserted without events; the engine first adds them to the agenda.
    while try await isBusy() { try await Task.sleep(for: .milliseconds(20)) }
    try await Task.sleep(for: Self.rest)
    let atRest = ProcessCost.residentMiB(service.processID)
    let drained = try await drain(service)
    try await Task.sleep(for: Self.rest)
    let atEnd = ProcessCost.residentMiB(service.processID)
    let memory = "memory of ridepulse serve"
    return try await drained + latency() + [
      .plain(memory, "resident MiB at rest", atRest, goal: "28"),
      .plain(memory, "resident MiB after \(events) events", atEnd, goal: "28"),
    ]
  }

  /// Inserts rides and phones without events.
  private func load() async throws {
    try await session.script(
      """
      set ridepulse.silent = 'on';
      insert into ridepulse.rides (id, state, customer_id, attributes)
      select 'ride-' || n, 'driver_en_route', 'customer-' || n, jsonb_build_object(
        'driver_name', 'Ana', 'plate', 'B-RP ' || n, 'eta_epoch', 1795248300)
      from generate_series(1, \(events)) n;
      select ridepulse.register_device('customer', 'customer-' || n, md5(n::text) || md5(n::text))
      from generate_series(1, \(events)) n;
      reset ridepulse.silent;
      analyze;
      checkpoint;
      """, timeout: .seconds(120))
  }

  /// (b) Measures a backlog that commits at once, until the ledger shows the last push as accepted.
  private func drain(_ service: ServiceProcess) async throws -> [Figure] {
    let postmaster = try cluster.postmasterID()
    try await session.script(
      """
      update ridepulse.rides set state = 'driver_arrived'
      where id in (select 'ride-' || n from generate_series(1, \(events)) n)
      """, timeout: .seconds(120))
    let start = Date()
    let began = used(by: service, postmaster)
    while try await isBusy() { try await Task.sleep(for: .milliseconds(20)) }
    let ended = used(by: service, postmaster)
    let seconds = Date().timeIntervalSince(start)
    let count = Double(events)
    let accepted = try await session.run([Call(Self.accepted)])[0].int64(0, 0) ?? 0
    guard accepted == events else {
      throw BenchFailure(text: "only \(accepted) of \(events) pushes were accepted")
    }
    let group = "whole engine, \(events) committed events, one phone each"
    func cpu(_ name: String, _ used: Double, goal: String = "") -> Figure {
      .cpu(group, name, used / count * 1e6, goal: goal)
    }
    return [
      cpu("ridepulse, CPU an event", ended.own - began.own, goal: "at most 7"),
      cpu("Postgres, CPU an event", ended.postgres - began.postgres, goal: "at most 12"),
      cpu("simulator, CPU an event", ended.sink - began.sink),
      cpu("time from event to event", seconds),
      .plain(group, "events/s", count / seconds, digits: 0),
    ]
  }

  /// CPU seconds so far of all that the events pass through.
  private func used(
    by service: ServiceProcess, _ postmaster: Int32
  ) -> (own: Double, postgres: Double, sink: Double) {
    (
      ProcessCost.cpuSeconds(service.processID), ProcessCost.cpuSecondsOfTree(postmaster),
      ProcessCost.cpuSeconds(simulator.processID)
    )
  }

  private static let busy = Statement(
    name: "bench_busy", sql: "select exists (select from ridepulse.events)")
  private static let accepted = Statement(
    name: "bench_accepted",
    sql: "select count(*) from ridepulse.ledger where status = 'accepted'")
  private static let change = Statement(
    name: "bench_change", sql: "update ridepulse.rides set state = $2 where id = $1")

  private func isBusy() async throws -> Bool {
    try await session.run([Call(Self.busy)])[0].bool(0, 0) ?? false
  }

  /// (c) Measures from the acknowledgement of the commit to the request at APNs, at 200 events a
  /// second.
  private func latency() async throws -> [Figure] {
    let count = 2_000
    let clock = ContinuousClock()
    let start = clock.now
    var committed: [String: Double] = [:]
    for index in 0..<count {
      try await clock.sleep(until: start + .milliseconds(5 * index))
      let ride = "ride-\(index + 1)"
      _ = try await session.run([Call(Self.change, [ride, "ride_completed"])])
      committed[ride] = Date().timeIntervalSince1970
    }
    while try await isBusy() { try await Task.sleep(for: .milliseconds(20)) }
    let arrivals = try Arrivals.read(simulator.records, event: "ride_completed")
    let delays = committed.compactMap { ride, at in arrivals[ride].map { ($0 - at) * 1000 } }
      .sorted()
    guard delays.count == count else {
      throw BenchFailure(text: "only \(delays.count) of \(count) pushes arrived")
    }
    let group = "commit to request, 200 events/s for 10 s"
    return [
      .plain(group, "p50 ms", delays[count / 2], goal: "5"),
      .plain(group, "p99 ms", delays[count * 99 / 100], goal: "25"),
      .plain(group, "worst ms", delays[count - 1]),
    ]
  }
}

/// The arrival times of pushes, as the simulator recorded them.
enum Arrivals {
  /// Returns epoch seconds by ride, for the pushes of one event.
  static func read(_ path: String, event: String) throws -> [String: Double] {
    var arrivals: [String: Double] = [:]
    let text = try String(contentsOfFile: path, encoding: .utf8)
    for line in text.split(separator: "\n") where line.contains(event) {
      guard let record = JSONValue(json: line.utf8),
        case .string(let ride) = record.value(at: ["payload", "ride_id"])
      else { continue }
      switch record.value(at: ["received_at"]) {
      case .number(let seconds): arrivals[ride] = seconds
      case .integer(let seconds): arrivals[ride] = Double(seconds)
      default: break
      }
    }
    return arrivals
  }
}
