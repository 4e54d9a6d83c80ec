import Base
import PostgresStore
import RideCore
import Synchronization

/// Copies the live rows of tables that were attached, or attached again, since their last backfill.
///
/// Every node runs it; the database keeps two from copying one table at once.
final class BackfillMonitor: Sendable {
  private struct State {
    var active: Set<String>
    /// The tables that could not be backfilled, with the reason that was logged, which is done once.
    var refused: [String: String] = [:]
  }

  private let pool: SessionPool
  private let log: Log
  private let state: Mutex<State>

  init(pool: SessionPool, active: Set<String>, log: Log) {
    self.pool = pool
    self.log = log
    state = Mutex(State(active: active))
  }

  /// Uses the active states of other rules from now on.
  func use(active: Set<String>) { state.withLock { $0.active = active } }

  /// Backfills the tables that need it.
  func check() async throws {
    let active = state.withLock { $0.active }
    try await pool.with(.long) { session in
      for table in try await BackfillRights.pendingTables(session, active: active) {
        do {
          try await backfill(table, active, session)
        } catch let error as PostgresError where error.server != nil {
          // A fault of one table must not keep the others from their backfill.
          refuse(
            table.name, "\(error)", "as the owner of \(table.name): \(Backfill.line(table.name))")
        }
      }
    }
  }

  private func backfill(
    _ table: PendingTable, _ active: Set<String>, _ session: PostgresSession
  ) async throws(PostgresError) {
    let name = table.name
    guard let rights = try await BackfillRights.read(session, table: table.oid) else { return }
    if let reason = rights.refusal {
      return refuse(name, reason, rights.remedy(Backfill.line(name)))
    }
    let counts = try await TableBackfill(session, table: name, active: active)
      .run(isForced: false)
    guard let counts else { return }
    _ = state.withLock { $0.refused.removeValue(forKey: name) }
    log(
      .info, .tableBackfilled,
      [
        "table": name, "inserted": counts.inserted, "refreshed": counts.refreshed,
        "removed": counts.removed, "unmatched": counts.unmatched,
        "unread": counts.unread,
      ])
  }

  private func refuse(_ table: String, _ reason: String, _ fix: String) {
    guard state.withLock({ $0.refused.updateValue(reason, forKey: table) }) != reason else {
      return
    }
    log(.warning, .tableNotBackfilled, ["table": table, "reason": reason, "fix": fix])
  }
}
