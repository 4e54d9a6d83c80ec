import Base
import Foundation
import LocalStack
import PostgresStore
import RideCore

/// (b) to (d) Measures the whole engine: `ridepulse serve` with a durable private Postgres and the
/// strict simulator.
struct EngineBench: ServerBench {
  private let servers: EngineServers
  private var session: PostgresSession { servers.session }
  /// After this time without work the service has returned the memory that it does not need.
  private static let rest: Duration = .seconds(6)

  init() async throws {
    servers = try await EngineServers()
  }

  func end() async {
    await servers.end()
  }

  func run() async throws -> [Figure] {
    try await servers.load()
    let service = try servers.service()
    defer { service.stop() }
    try await servers.waitUntilIdle()
    try await Task.sleep(for: Self.rest)
    let atRest = ProcessCost.residentMiB(service.processID)
    let drained = try await servers.drain([service])
    try await Task.sleep(for: Self.rest)
    let atEnd = ProcessCost.residentMiB(service.processID)
    let memory = "memory of ridepulse serve"
    let count = EngineServers.events
    let group = "whole engine, \(count) committed events, one phone each"
    return try await drained.figures(group, own: "at most 7", postgres: "at most 12")
      + latency(service, eventsPerSecond: 200, rides: 1..<2001, to: "ride_completed")
      + latency(service, eventsPerSecond: 10, rides: 2001..<2101, to: "ride_completed")
      + [
        .plain(memory, "resident MiB at rest", atRest, goal: "28"),
        .plain(memory, "resident MiB after \(count) events", atEnd, goal: "28"),
      ]
  }

  private static let change = Statement(
    name: "bench_change", sql: "update ridepulse.rides set state = $2 where id = $1")

  /// (c) Measures from the acknowledgement of the commit to the request at APNs, and what an event costs
  /// a service that has little to do.
  ///
  /// - Parameter rides: the rides that change, once each.
  private func latency(
    _ service: ServiceProcess, eventsPerSecond: Int, rides: Range<Int>, to state: String
  ) async throws -> [Figure] {
    let clock = ContinuousClock()
    let before = ProcessCost.threads(service.processID)
    let start = clock.now
    var committed: [String: Double] = [:]
    for (index, ride) in rides.enumerated() {
      try await clock.sleep(until: start + .seconds(1) / eventsPerSecond * index)
      let ride = "ride-\(ride)"
      _ = try await session.run([Call(Self.change, [ride, state])])
      committed[ride] = Date().timeIntervalSince1970
    }
    try await servers.waitUntilIdle()
    let after = ProcessCost.threads(service.processID)
    let count = rides.count
    let arrivals = try Arrivals.read(servers.simulator.records, event: state)
    let delays = committed.compactMap { ride, at in arrivals[ride].map { ($0 - at) * 1000 } }
      .sorted()
    guard delays.count == count else {
      throw BenchFailure(text: "only \(delays.count) of \(count) pushes arrived")
    }
    let group = "commit to request, \(eventsPerSecond) events/s for \(count / eventsPerSecond) s"
    func anEvent(_ value: Double) -> Double { value / Double(count) }
    return [
      .plain(group, "p50 ms", delays[count / 2], goal: "5"),
      .plain(group, "p99 ms", delays[count * 99 / 100], goal: "25"),
      .plain(group, "worst ms", delays[count - 1]),
      .plain(
        group, "ridepulse, CPU ms an event",
        anEvent(after.microseconds - before.microseconds) / 1000, digits: 2, goal: "0.5"),
      .plain(group, "ridepulse, waits of threads an event", anEvent(after.waits - before.waits)),
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
