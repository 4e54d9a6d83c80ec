import RideCore
import Synchronization

/// The database's time between two answers of it: its last word, and how long ago that was.
///
/// A node whose own clock is wrong decides right all the same.
final class DatabaseTime: Sendable {
  private let uptime: @Sendable () -> Duration
  private let last = Mutex((now: Instant(microseconds: 0), at: Duration.zero))

  init(uptime: @escaping @Sendable () -> Duration) {
    self.uptime = uptime
  }

  /// The database said what time it is.
  func read(_ now: Instant) {
    last.withLock { $0 = (now, uptime()) }
  }

  /// What the database would say now.
  var now: Instant {
    last.withLock { $0.now + (uptime() - $0.at) }
  }
}
