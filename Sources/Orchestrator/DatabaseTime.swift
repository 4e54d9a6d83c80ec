import Foundation
package import RideCore
import Synchronization

/// An estimate of the database's time between its answers.
///
/// A node whose local clock is wrong still decides correctly, and signs tokens in the same windows
/// as every other node.
package final class DatabaseTime: Sendable {
  /// The time since a fixed point, on a monotonic clock.
  let uptime: @Sendable () -> Duration
  private let wall: @Sendable () -> Timestamp
  private let bounds = Mutex<ClockBounds?>(nil)

  /// - Parameters:
  ///   - wall: this machine's wall clock, which is used until the database has answered.
  ///   - uptime: the time since a fixed point, on a monotonic clock.
  package init(
    wall: @escaping @Sendable () -> Timestamp, uptime: @escaping @Sendable () -> Duration
  ) {
    self.wall = wall
    self.uptime = uptime
  }

  /// Returns an estimate that uses this machine's clock until the database has answered.
  package static func ofThisMachine() -> DatabaseTime {
    let clock = ContinuousClock()
    let start = clock.now
    return DatabaseTime(
      wall: { Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1e6)) },
      uptime: { start.duration(to: clock.now) })
  }

  /// Records the database's time from an answer; `asked` is the uptime of the request.
  ///
  /// - Returns: how far the database's clock is ahead of this machine's clock, at least.
  @discardableResult
  func read(_ now: Timestamp, asked: Duration) -> Duration {
    let reading = ClockBounds(now, asked: asked, answered: uptime())
    bounds.withLock { bounds in
      if bounds == nil { bounds = reading } else { bounds?.learn(reading) }
    }
    return earliest - wall()
  }

  /// The latest possible time of the database; a message that is still valid at this time is valid.
  package var now: Timestamp {
    bounds.withLock { bounds in bounds.map { $0.latest + uptime() } } ?? wall()
  }

  /// The earliest possible time of the database; a ride that is due at this time is due.
  var earliest: Timestamp {
    bounds.withLock { bounds in bounds.map { $0.earliest + uptime() } } ?? wall()
  }
}
