import Base
import Foundation
import LocalStack
import PostgresStore
import RideCore

/// Measures how several services share one Postgres: what each adds, and what they wait for.
enum ScaleBench {
  static func measure() async throws -> [Figure] {
    var figures: [Figure] = []
    var alone: Double?
    for count in [1, 2, 4] {
      let (drained, waits) = try await drain(by: count)
      let group = "\(count) × ridepulse serve, \(EngineServers.events) events, one Postgres"
      figures += drained.figures(group)
      let rate = 1 / drained.seconds
      figures += [
        .plain(group, "events/s ÷ those of one service", rate / (alone ?? rate), digits: 2)
      ]
      figures += waits.figures(group)
      alone = alone ?? rate
    }
    return figures
  }

  private static func drain(by count: Int) async throws -> (EngineServers.Drained, WaitSamples) {
    let servers = try await EngineServers(options: ["shared_buffers=512MB"])
    return try await withCleanup({ await servers.end() }) {
      try await servers.load()
      let services = try (0..<count).map { _ in try servers.service() }
      defer { for service in services { service.stop() } }
      try await servers.waitUntilIdle()
      let session = try PostgresSession(conninfo: servers.cluster.url())
      return try await withCleanup({ await session.close() }) {
        let sampling = Task { try await WaitSamples.take(over: session) }
        let drained = try await servers.drain(services)
        sampling.cancel()
        return (drained, try await sampling.value)
      }
    }
  }
}

/// What the sessions of services were waiting for, at regular times.
private struct WaitSamples {
  private var samples = 0
  /// Sessions at work in all samples, by what they waited for; CPU is no wait.
  private var sessions: [String: Int64] = [:]

  private static let statement = Statement(
    name: "bench_waits",
    sql: """
      select coalesce(wait_event_type, 'CPU'), count(*)
      from pg_stat_activity
      where backend_type = 'client backend' and state = 'active' and pid <> pg_backend_pid()
        and query <> '\(EngineServers.busy.sql)'
      group by 1
      """)

  /// Takes samples until the task is cancelled.
  static func take(over session: PostgresSession) async throws -> WaitSamples {
    var taken = WaitSamples()
    while !Task.isCancelled {
      let rows = try await session.run([Call(statement)])[0]
      taken.samples += 1
      for row in 0..<rows.rowCount {
        taken.sessions[rows.string(row, 0) ?? "", default: 0] += rows.int64(row, 1) ?? 0
      }
      try? await Task.sleep(for: .milliseconds(20))
    }
    return taken
  }

  /// The mean number of sessions that were at work, and those that waited for each kind.
  func figures(_ group: String) -> [Figure] {
    let kinds = [
      ("CPU", "sessions on a CPU or ready for one"),
      ("Lock", "sessions that wait for a row or table"),
      ("LWLock", "sessions that wait for memory or a flush of WAL"),
      ("IO", "sessions that wait for a disk"),
    ]
    return kinds.map { kind, name in
      .plain(group, name, Double(sessions[kind] ?? 0) / Double(max(1, samples)), digits: 2)
    }
  }
}
