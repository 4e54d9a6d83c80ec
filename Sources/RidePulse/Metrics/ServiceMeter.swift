import RideCore
import Synchronization

/// Counts what the engine settles.
final class ServiceMeter: Sendable {
  private let tally = Mutex(PushTally())
  private let now: @Sendable () -> Timestamp

  /// - Parameter now: The clock of the events, which is the database's.
  init(now: @escaping @Sendable () -> Timestamp) {
    self.now = now
  }

  func handle(_ settlements: [Settlement]) {
    let now = now()
    tally.withLock { $0.add(settlements, at: now) }
  }

  /// The counts since the start.
  var total: PushTally { tally.withLock { $0 } }
}
