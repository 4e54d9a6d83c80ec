import RideCore
import Synchronization

/// Hears what the engine settles, and counts it.
final class ServiceMeter: Sendable {
  private let tally = Mutex(PushTally())
  private let now: @Sendable () -> Instant

  /// - Parameter now: the clock of the events, the database's.
  init(now: @escaping @Sendable () -> Instant) {
    self.now = now
  }

  func hear(_ settlements: [Settlement]) {
    let now = now()
    tally.withLock { $0.add(settlements, at: now) }
  }

  /// Everything since the start.
  var total: PushTally { tally.withLock { $0 } }
}
