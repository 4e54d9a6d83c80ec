import Foundation
import PostgresStore
import RideCore

extension Troublemaker {
  /// The share of the queue up to which it is filled: `ridepulse.wake` notifies below 0.01.
  private static let highUsage = 0.02

  /// Another application listens and stays in a transaction, so that nothing leaves the queue, and
  /// notifies until the queue is filled. Then the listener goes.
  mutating func fillNotifyQueue(completely: Bool) async throws {
    var number = 0
    while try await rest(
      Int.random(in: number == 0 ? 2_000...6_000 : 40_000...90_000, using: &numbers))
    {
      number += 1
      let length = Int.random(in: 5_000...25_000, using: &numbers)
      let listener = try AdminSession(
        conninfo: conninfo, listen: ["chaos_other"], applicationName: "chaos-listener")
      let admin = try AdminSession(conninfo: conninfo)
      let start = Diary.now
      let idle = Task {
        try await listener.session.script(
          "begin; select pg_sleep(600); commit", timeout: .seconds(600))
      }
      let usage = try await fill(to: completely ? 1 : Self.highUsage, admin)
      _ = try await rest(length)
      // A listener that reads on would be sent all of it.
      _ = try await admin.value(
        """
        select count(pg_terminate_backend(pid)) from pg_stat_activity
        where application_name = 'chaos-listener'
        """)
      await listener.close(limit: .zero)
      _ = await idle.result
      await admin.close()
      diary.note(
        .notifyQueue, from: start, to: Diary.now, String(format: "to %.1f %%", usage * 100))
    }
  }

  /// Notifies until the queue is filled to this share or Postgres refuses; returns the share.
  private func fill(to target: Double, _ admin: AdminSession) async throws -> Double {
    var usage = 0.0
    var batch = 0
    while usage < target {
      batch += 1
      do {
        let rows = try await admin.session.run(
          [
            Call(
              Statement(
                name: "",
                sql: """
                  select count(*) from generate_series(1, 4000) n,
                    pg_notify('chaos_other', lpad(\(batch) || ' ' || n, 7900, '.'))
                  """)),
            Call(Statement(name: "", sql: "select pg_notification_queue_usage()")),
          ], timeout: .seconds(60))
        usage = rows[1].double(0, 0) ?? 0
      } catch {
        // Full, or restarted and empty: both are an end.
        if error.server?.sqlState == "54000" { return 1 }
        if !error.isTransient && !error.mayHaveCommitted { throw error }
        return usage
      }
    }
    return usage
  }
}
