import Base
import Orchestrator
import PostgresStore
import RideCore
import Synchronization

/// Applies the answers of APNs to phones, cards, start tokens and channels.
///
/// Settlements only record these outcomes, so that a row which an app has locked does not delay
/// them. Claims read the tokens as if the outcomes were applied, so pushes do not depend on how
/// soon that happens. Every node applies the outcomes that any node recorded.
final class OutcomeApplier: Sendable {
  private let conninfo: String
  private let log: Log
  private let onChannels: @Sendable () -> Void
  private let signal = AsyncSignal()
  private let isBlocked = Mutex(false)
  private let failures = Mutex(0)

  /// The interval between searches for outcomes that another node recorded and did not apply.
  static let interval: Duration = .seconds(20)
  /// How long an idle session stays open.
  static let idle: Duration = .seconds(20)
  /// The delays between attempts while rows are locked.
  static let blocked = Backoff(first: .milliseconds(100), longest: .seconds(3))

  /// - Parameter onChannels: Called after channels have ended; must not block.
  init(conninfo: String, log: Log, onChannels: @escaping @Sendable () -> Void) {
    self.conninfo = conninfo
    self.log = log
    self.onChannels = onChannels
  }

  /// Wakes `run` if these settlements contain outcomes. Returns at once.
  func handle(_ settlements: [Settlement]) {
    if settlements.contains(where: { !$0.invalidations.isEmpty || !$0.observations.isEmpty }) {
      signal.notify()
    }
  }

  /// Wakes `run`: there is, or may be, something to apply or to report, or its task was cancelled.
  func notify() { signal.notify() }

  func run() async {
    repeat {
      await work()
      let wait = Self.wait(after: failures.withLock { $0 }, idle: Self.interval)
      await signal.wait(atMost: wait, on: ContinuousClock())
    } while !Task.isCancelled
  }

  /// Applies all pending outcomes once, within a time limit.
  func once(within limit: Duration) async {
    let session = try? PostgresSession(conninfo: conninfo, applicationName: "ridepulse outcomes")
    guard let session else { return }
    let timer = Task {
      try? await Task.sleep(for: limit)
      await session.close(limit: .zero)
    }
    _ = try? await apply(session)
    timer.cancel()
    await session.close(limit: .milliseconds(500))
  }

  /// Returns the pause before the next attempt: a backoff after failures, otherwise `idle`.
  private static func wait(after failures: Int, idle: Duration) -> Duration {
    failures == 0 ? idle : blocked.delay(failures: failures, random: .random(in: 0.5..<1))
  }

  /// Applies outcomes over one session, until none has come for a while.
  private func work() async {
    do {
      try await Database.with(conninfo: conninfo, name: "outcomes") { session in
        var failures = 0
        while !Task.isCancelled {
          let isDone = try await apply(session)
          self.failures.withLock { $0 = 0 }
          failures = isDone ? 0 : failures + 1
          let wait = Self.wait(after: failures, idle: Self.idle)
          let began = ContinuousClock.now
          await signal.wait(atMost: wait, on: ContinuousClock())
          if isDone, ContinuousClock.now - began >= wait { return }
        }
      }
    } catch {
      let isFirst = failures.withLock { failures in
        failures += 1
        return failures == 1
      }
      if isFirst {
        log(.warning, "Token outcomes not applied, retrying", ["error": "\(error)"])
      }
    }
  }

  /// - Returns: Whether nothing is left to apply or to report.
  private func apply(_ session: PostgresSession) async throws -> Bool {
    let progress = try await TokenOutcomes(session: session).apply()
    if progress.channels > 0 { onChannels() }
    let areReported = try await ChannelRepository(session: session).reportAll()
    record(progress)
    return progress.left == 0 && areReported
  }

  /// Logs what blocks the outcomes: once, until it no longer does.
  private func record(_ progress: TokenOutcomes.Progress) {
    let was = isBlocked.withLock { blocked in
      defer { blocked = progress.left > 0 }
      return blocked
    }
    switch (was, progress.failure) {
    case (false, let failure?):
      log(
        .error, "Token outcome not applied, retrying",
        ["outcomes": "\(progress.left)", "error": failure])
    case (false, nil) where progress.left > 0:
      log(
        .info, "Token outcomes wait for locked rows",
        ["outcomes": "\(progress.left)"])
    case (true, nil) where progress.left == 0:
      log(.info, "Token outcomes applied", ["outcomes": "\(progress.applied)"])
    default: break
    }
  }
}
