import Foundation
package import RideCore
import Synchronization

/// The database's time between two answers of it, as far as they tell.
///
/// A node whose own clock is wrong decides right all the same, and signs tokens of the same windows
/// as every other node.
package final class DatabaseTime: Sendable {
  /// Time since some fixed point, on a clock that is never set.
  let uptime: @Sendable () -> Duration
  private let wall: @Sendable () -> Timestamp
  private let bounds = Mutex<ClockBounds?>(nil)

  /// - Parameters:
  ///   - wall: This machine's own clock, which counts until the database has said something.
  ///   - uptime: Time since some fixed point, on a clock that is never set.
  package init(
    wall: @escaping @Sendable () -> Timestamp, uptime: @escaping @Sendable () -> Duration
  ) {
    self.wall = wall
    self.uptime = uptime
  }

  /// One that goes by this machine until the database has spoken.
  package static func ofThisMachine() -> DatabaseTime {
    let clock = ContinuousClock()
    let start = clock.now
    return DatabaseTime(
      wall: { Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1e6)) },
      uptime: { start.duration(to: clock.now) })
  }

  /// The database said what time it is, to a question that was asked at this uptime.
  ///
  /// - Returns: How far it is ahead of this machine's clock, at least.
  @discardableResult
  func read(_ now: Timestamp, asked: Duration) -> Duration {
    let reading = ClockBounds(now, asked: asked, answered: uptime())
    bounds.withLock { bounds in
      if bounds == nil { bounds = reading } else { bounds?.learn(reading) }
    }
    return earliest - wall()
  }

  /// What the database may say by now at the latest: what is still true then is true.
  package var now: Timestamp {
    bounds.withLock { bounds in bounds.map { $0.latest + uptime() } } ?? wall()
  }

  /// What the database says by now at the earliest: what is due then is due.
  var earliest: Timestamp {
    bounds.withLock { bounds in bounds.map { $0.earliest + uptime() } } ?? wall()
  }
}
