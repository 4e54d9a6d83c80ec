import Base
import Orchestrator
import RideCore
import Synchronization

/// Runs a service once, for `serve --once`, and reports what it leaves unhandled.
final class OnceRun: Sendable {
  private let unfinished = Mutex(UnfinishedPushes())

  /// Receives what the service settles.
  func handle(_ settlements: [Settlement]) {
    unfinished.withLock { $0.add(settlements) }
  }

  /// Handles what is due; returns `failed` if something due is left.
  func run(_ service: Service, _ log: Log) async throws -> ExitStatus {
    await service.tasks.backfills.pass()
    let start = try await service.databaseTime()
    try await service.engine.runOnce()
    await service.applyOutcomes(within: .seconds(10))
    for task in service.tasks.afterwards { await task.pass() }
    return try await isComplete(service, since: start, log) ? .done : .failed
  }

  /// Logs what is left; returns whether nothing is.
  private func isComplete(
    _ service: Service, since start: Timestamp, _ log: Log
  ) async throws -> Bool {
    var isComplete = true
    for (group, pushes) in unfinished.withLock({ $0.groups }) {
      log(
        .error, .pushesWaitForRetry,
        ["app": group.app.rawValue, "pushes": pushes, "reason": group.reason])
      isComplete = false
    }
    let left = try await service.leftovers(since: start)
    if left.parked > 0 {
      log(
        .error, .ridesParkedInRun,
        ["rides": left.parked, "action": "run: ridepulse unpark --all --dry-run"])
      isComplete = false
    }
    // The engine has logged the cause.
    if service.engine.statistics.ridesHeld > 0 { isComplete = false }
    // A complete run claims until nothing is due.
    if service.engine.isStopped, left.due > 0 {
      log(.error, .ridesLeftDue, ["rides": left.due])
      isComplete = false
    }
    return isComplete
  }
}
