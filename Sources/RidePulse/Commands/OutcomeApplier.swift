import Orchestrator
import PostgresStore
import RideCore
import Synchronization

/// Applies what APNs answered to phones, cards, start tokens and channels.
///
/// Settlements only note it, so that no row which an app has locked holds them up. Claims read the
/// tokens as if it had been applied, so pushes do not depend on how soon that happens. Every node
/// applies what any node noted.
final class OutcomeApplier: Sendable {
  private let conninfo: String
  private let log: Log
  private let onChannels: @Sendable () -> Void
  private let signal = AsyncSignal()
  private let isBlocked = Mutex(false)
  private let failures = Mutex(0)

  /// How often it looks for what another node has noted and not applied.
  static let interval: Duration = .seconds(20)
  /// How long its session stays open without work.
  static let idle: Duration = .seconds(20)
  /// The waits while rows are locked.
  static let blocked = Backoff(first: .milliseconds(100), longest: .seconds(3))

  /// - Parameter onChannels: Called after channels have ended; must not block.
  init(conninfo: String, log: Log, onChannels: @escaping @Sendable () -> Void) {
    self.conninfo = conninfo
    self.log = log
    self.onChannels = onChannels
  }

  /// Looks for outcomes among what was settled; returns at once.
  func handle(_ settlements: [Settlement]) {
    if settlements.contains(where: { !$0.gone.isEmpty || !$0.findings.isEmpty }) { signal.ring() }
  }

  /// There is something to apply or to report, or may be; also lets `run` see that its task was
  /// cancelled.
  func ring() { signal.ring() }

  /// Until the task is cancelled.
  func run() async {
    repeat {
      await work()
      let failures = failures.withLock { $0 }
      let wait =
        failures == 0
        ? Self.interval : Self.blocked.delay(failures: failures, random: .random(in: 0.5..<1))
      await signal.wait(atMost: wait, on: ContinuousClock())
    } while !Task.isCancelled
  }

  /// Applies what there is once, within a limit.
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

  /// Until nothing has come for a while.
  private func work() async {
    do {
      try await Database.with(conninfo: conninfo, name: "outcomes") { session in
        var failures = 0
        while !Task.isCancelled {
          let isDone = try await apply(session)
          self.failures.withLock { $0 = 0 }
          failures = isDone ? 0 : failures + 1
          let wait =
            isDone
            ? Self.idle : Self.blocked.delay(failures: failures, random: .random(in: 0.5..<1))
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

  /// - Returns: Whether nothing is left.
  private func apply(_ session: PostgresSession) async throws -> Bool {
    let progress = try await TokenOutcomes(session: session).apply()
    if progress.channels > 0 { onChannels() }
    let areReported = try await ChannelRepository(session: session).reportAll()
    record(progress)
    return progress.left == 0 && areReported
  }

  /// What holds it up is named once, until it no longer does.
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
        .info, "Token outcomes wait for rows that other sessions have locked",
        ["outcomes": "\(progress.left)"])
    case (true, nil) where progress.left == 0:
      log(.info, "Token outcomes applied", ["outcomes": "\(progress.applied)"])
    default: break
    }
  }
}
