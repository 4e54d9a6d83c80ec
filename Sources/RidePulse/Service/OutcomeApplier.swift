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
  private let pool: SessionPool
  private let log: Log
  private let onChannels: @Sendable () -> Void
  /// There is, or may be, something to apply or to report.
  let signal = AsyncSignal()
  private let isBlocked = Mutex(false)

  /// - Parameter onChannels: Called after channels have ended; must not block.
  init(pool: SessionPool, log: Log, onChannels: @escaping @Sendable () -> Void) {
    self.pool = pool
    self.log = log
    self.onChannels = onChannels
  }

  /// Notes whether these settlements contain outcomes. Returns at once.
  func handle(_ settlements: [Settlement]) {
    if settlements.contains(where: { !$0.invalidations.isEmpty || !$0.observations.isEmpty }) {
      signal.notify()
    }
  }

  /// Applies all pending outcomes once.
  ///
  /// - Returns: Whether nothing is left to apply or to report.
  func apply() async throws -> Bool {
    let (progress, areReported) = try await pool.with(.short) { session in
      let progress = try await TokenOutcomes(session: session).apply()
      if progress.channels > 0 { onChannels() }
      return (progress, try await ChannelRepository(session: session).reportAll())
    }
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
      log(.error, .tokenOutcomeNotApplied, ["outcomes": progress.left, "error": failure])
    case (false, nil) where progress.left > 0:
      log(.info, .tokenOutcomesWait, ["outcomes": progress.left])
    case (true, nil) where progress.left == 0:
      log(.info, .tokenOutcomesApplied, ["outcomes": progress.applied])
    default: break
    }
  }
}
