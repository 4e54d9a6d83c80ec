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
    return try await drained.figures(group, own: "at most 7", postgres: "at most 12") + latency()
      + [
        .plain(memory, "resident MiB at rest", atRest, goal: "28"),
        .plain(memory, "resident MiB after \(count) events", atEnd, goal: "28"),
      ]
  }

  private static let change = Statement(
    name: "bench_change", sql: "update ridepulse.rides set state = $2 where id = $1")

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
    try await servers.waitUntilIdle()
    let arrivals = try Arrivals.read(servers.simulator.records, event: "ride_completed")
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
