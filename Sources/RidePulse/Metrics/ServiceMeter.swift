import RideCore
import Synchronization

/// Hears what the engine settles, and counts it.
final class ServiceMeter: Sendable {
  private let tally = Mutex(PushTally())
  private let now: @Sendable () -> Timestamp

  /// - Parameter now: the clock of the events, the database's.
  init(now: @escaping @Sendable () -> Timestamp) {
    self.now = now
  }

  func handle(_ settlements: [Settlement]) {
    let now = now()
    tally.withLock { $0.add(settlements, at: now) }
  }

  /// Everything since the start.
  var total: PushTally { tally.withLock { $0 } }
}
