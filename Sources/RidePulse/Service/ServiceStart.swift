import Base
import Orchestrator
import PostgresStore
import RideCore
import Synchronization

/// The start of a service: repeats an attempt to use the database until it succeeds.
final class ServiceStart: Sendable {
  private struct State {
    var isDone = false
    var isStopping = false
    var reason: String?
  }

  private let log: Log
  private let state = Mutex(State())
  private let signal = AsyncSignal()

  init(log: Log) {
    self.log = log
  }

  /// What the start waits for; nil once it has succeeded.
  var problem: String? {
    state.withLock { state in
      if state.isDone { return nil }
      return state.reason ?? "waiting for Postgres"
    }
  }

  /// Records why a start ended that is tried again.
  func failed(_ reason: String) {
    state.withLock { ($0.isDone, $0.reason) = (false, "not started: \(reason)") }
  }

  /// Waits before the start is tried again, or until it is stopped.
  func wait(_ pause: Duration) async {
    if state.withLock({ $0.isStopping }) { return }
    await signal.wait(atMost: pause, on: ContinuousClock())
  }

  var isDone: Bool { state.withLock { $0.isDone } }

  /// Ends a wait at once.
  func stop() {
    state.withLock { $0.isStopping = true }
    signal.notify()
  }

  /// Repeats the attempt.
  ///
  /// - Parameters:
  ///   - limit: How long to wait; nil for any time.
  ///   - onWait: Called after each failed attempt, with its reason.
  /// - Returns: False if `stop` ended it.
  /// - Throws: `CommandFailure` if waiting cannot help, or has reached the limit; any other error of
  ///   the attempt unchanged.
  func run(
    limit: Duration?, onWait: (String) -> Void, _ attempt: () async throws -> Void
  ) async throws -> Bool {
    let clock = ContinuousClock()
    let began = clock.now
    var policy = StartPolicy(limit: limit)
    while !state.withLock({ $0.isStopping }) {
      do {
        try await attempt()
        state.withLock { $0.isDone = true }
        return true
      } catch {
        if state.withLock({ $0.isStopping }) { break }
        guard let obstacle = StartObstacle(error) else { throw error }
        let step = policy.next(
          after: obstacle, elapsed: clock.now - began, random: .random(in: 0..<1))
        switch step {
        case .fail(let message): throw CommandFailure(message)
        case .wait(let reason, let isNew, let pause):
          let status = "waiting for \(obstacle.awaited): \(reason)"
          state.withLock { $0.reason = status }
          if isNew { warn(obstacle.awaited, reason) }
          onWait(status)
          await signal.wait(atMost: pause, on: clock)
        }
      }
    }
    return false
  }

  private func warn(_ awaited: StartObstacle.Awaited, _ reason: String) {
    switch awaited {
    case .postgres: log(.warning, .waitingForPostgres, ["reason": reason])
    case .schema: log(.warning, .waitingForSchema, ["reason": reason])
    }
  }
}
