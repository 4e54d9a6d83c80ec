import Base
import Orchestrator
import PostgresStore
import RideCore
import Synchronization

/// Work that a service repeats until it stops. No push depends on it.
final class PeriodicTask: Sendable {
  /// Thrown by a pass whose outcome another node has: it is neither a success nor a failure.
  struct Undecided: Error {}

  private let interval: Duration
  private let retries: Backoff?
  private let signal: AsyncSignal
  private let failures: FailureLog
  let task: ServiceTask
  private let successAt = Mutex<Timestamp?>(nil)
  private let work: @Sendable () async throws -> Bool
  /// The number of passes in a row that failed or left something.
  private let unfinished = Mutex(0)

  /// - Parameters:
  ///   - task: What the log and metrics call it.
  ///   - interval: The pause between two passes, of which a tenth is random: tasks and nodes that
  ///     start together do not work at the same moments for long.
  ///   - retries: The pauses after passes that failed or left something; nil for the interval.
  ///   - signal: Begins a pass before its time.
  ///   - work: One pass; returns whether it left nothing.
  init(
    _ task: ServiceTask, every interval: Duration, retries: Backoff? = nil,
    wokenBy signal: AsyncSignal = AsyncSignal(), _ log: Log,
    work: @escaping @Sendable () async throws -> Bool
  ) {
    self.interval = interval
    self.retries = retries
    self.signal = signal
    self.task = task
    failures = FailureLog(task.failure, log)
    self.work = work
  }

  /// Work that leaves nothing.
  convenience init(
    _ task: ServiceTask, every interval: Duration, wokenBy signal: AsyncSignal = AsyncSignal(),
    _ log: Log, work: @escaping @Sendable () async throws -> Void
  ) {
    self.init(task, every: interval, wokenBy: signal, log) {
      try await work()
      return true
    }
  }

  /// Runs a pass after each pause until the task is cancelled.
  func run() async {
    await withTaskCancellationHandler {
      while true {
        await signal.wait(atMost: pause, on: ContinuousClock())
        if Task.isCancelled { return }
        await pass()
      }
    } onCancel: {
      signal.notify()
    }
  }

  /// Runs one pass.
  func pass() async {
    var isDone = false
    do {
      isDone = try await work()
      successAt.withLock { $0 = MachineTime.now }
      failures.succeeded()
    } catch is Undecided {
    } catch {
      // A stop closes the sessions.
      if !Task.isCancelled { failures.failed(error) }
    }
    unfinished.withLock { $0 = isDone ? 0 : $0 + 1 }
  }

  /// When a pass last succeeded, by this machine's clock; nil if none has.
  var lastSuccess: Timestamp? { successAt.withLock { $0 } }

  private var pause: Duration {
    let unfinished = unfinished.withLock { $0 }
    if unfinished > 0, let retries {
      return retries.delay(failures: unfinished, random: .random(in: 0.5..<1))
    }
    return interval * .random(in: 0.9..<1)
  }
}

/// Logs the first of several failures in a row, and that they are over.
final class FailureLog: Sendable {
  private let failure: LogEvent
  private let log: Log
  private let count = Mutex(0)

  init(_ failure: LogEvent, _ log: Log) {
    self.failure = failure
    self.log = log
  }

  func failed(_ error: any Error) {
    let isFirst = count.withLock { count in
      count += 1
      return count == 1
    }
    guard isFirst else { return }
    if let error = error as? PostgresError, error.refusesRights {
      log(.warning, failure, ["error": "\(error)", "fix": "ridepulse doctor prints the grant"])
    } else {
      log(.warning, failure, ["error": "\(error)"])
    }
  }

  func succeeded() {
    let failures = count.withLock { count in
      defer { count = 0 }
      return count
    }
    if failures > 0 {
      log(.info, .recovered, ["from": failure.code, "failures": failures])
    }
  }
}
