import Foundation
import PostgresStore
import RideCore

/// A NOTIFY queue that another application has filled.
///
/// That application listens and stays in a transaction, so that no entry can leave the queue.
struct NotifyQueue: Sendable {
  /// The share of the queue that is filled.
  let usage: Double
  private let start = IncidentLog.now
  private let listener: AdminSession
  /// A second listener that keeps reading: new listeners start at its position, not at the oldest
  /// entry.
  private let reader: AdminSession
  private let idle: Task<Void, any Error>

  /// Notifies until the queue is filled to this share, or Postgres refuses or restarts.
  static func filled(to target: Double, conninfo: String) async throws -> NotifyQueue {
    let listener = try AdminSession(
      conninfo: conninfo, listen: ["chaos_other"], applicationName: "chaos-listener")
    let reader = try AdminSession(
      conninfo: conninfo, listen: ["chaos_reader"], applicationName: "chaos-reader")
    let idle = Task {
      try await listener.session.script(
        "begin; select pg_sleep(3600); commit", timeout: .seconds(3_600))
    }
    let admin = try AdminSession(conninfo: conninfo)
    let usage = try await fill(to: target, admin)
    await admin.close()
    return NotifyQueue(usage: usage, listener: listener, reader: reader, idle: idle)
  }

  private init(
    usage: Double, listener: AdminSession, reader: AdminSession, idle: Task<Void, any Error>
  ) {
    self.usage = usage
    self.listener = listener
    self.reader = reader
    self.idle = idle
  }

  private static func fill(to target: Double, _ admin: AdminSession) async throws -> Double {
    var usage = 0.0
    var batch = 0
    while usage < target {
      batch += 1
      let notify = """
        select count(*) from generate_series(1, 4000) n,
          pg_notify('chaos_other', lpad(\(batch) || ' ' || n, 7900, '.'))
        """
      do {
        _ = try await admin.session.run(
          [Call(Statement(name: "", sql: notify))], timeout: .seconds(60))
      } catch {
        if error.server?.sqlState == "54000" { return 1 }
        if !error.isTransient && !error.mayHaveCommitted { throw error }
        return usage
      }
      usage =
        try await admin.value("select pg_notification_queue_usage()").flatMap(Double.init) ?? 0
    }
    return usage
  }

  /// Ends the listener, which empties the queue.
  func empty(_ incidents: IncidentLog, conninfo: String) async throws {
    let admin = try AdminSession(conninfo: conninfo)
    // Terminate the listener: if it continued to read, it would receive the whole queue.
    _ = try await admin.value(
      """
      select count(pg_terminate_backend(pid)) from pg_stat_activity
      where application_name = 'chaos-listener'
      """)
    await listener.close(limit: .zero)
    await reader.close(limit: .zero)
    _ = await idle.result
    await admin.close()
    incidents.record(
      .notifyQueue, from: start, to: IncidentLog.now, String(format: "to %.1f %%", usage * 100))
  }
}

extension FaultInjector {
  /// The share to fill: `ridepulse.wake` notifies only below 0.01.
  private static let highUsage = 0.02

  /// Lets another application fill the queue at random intervals.
  ///
  /// - Parameter full: a queue that is already full.
  mutating func fillNotifyQueue(_ full: NotifyQueue?) async throws {
    if let full {
      _ = try await rest(Int.random(in: 15_000...25_000, using: &numbers))
      try await full.empty(incidents, conninfo: conninfo)
    }
    var number = 0
    while try await rest(
      Int.random(in: number == 0 ? 2_000...6_000 : 40_000...90_000, using: &numbers))
    {
      number += 1
      let length = Int.random(in: 5_000...25_000, using: &numbers)
      let queue = try await NotifyQueue.filled(to: Self.highUsage, conninfo: conninfo)
      _ = try await rest(length)
      try await queue.empty(incidents, conninfo: conninfo)
    }
  }
}
