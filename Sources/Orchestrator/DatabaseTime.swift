import Foundation
public import RideCore
import Synchronization

/// The database's time between two answers of it: its last word, and how long ago that was.
///
/// A node whose own clock is wrong decides right all the same, and signs tokens of the same windows
/// as every other node.
public final class DatabaseTime: Sendable {
  /// Time since some fixed point, on a clock that is never set.
  let uptime: @Sendable () -> Duration
  private let wall: @Sendable () -> Instant
  private let last = Mutex<(now: Instant, at: Duration)?>(nil)

  /// - Parameters:
  ///   - wall: This machine's own clock, which counts until the database has said something.
  ///   - uptime: Time since some fixed point, on a clock that is never set.
  public init(
    wall: @escaping @Sendable () -> Instant, uptime: @escaping @Sendable () -> Duration
  ) {
    self.wall = wall
    self.uptime = uptime
  }

  /// One that goes by this machine until the database has spoken.
  public static func ofThisMachine() -> DatabaseTime {
    let clock = ContinuousClock()
    let start = clock.now
    return DatabaseTime(
      wall: { Instant(microseconds: Int64(Date().timeIntervalSince1970 * 1e6)) },
      uptime: { start.duration(to: clock.now) })
  }

  /// The database said what time it is.
  ///
  /// - Returns: How far it is ahead of this machine's clock.
  @discardableResult
  func read(_ now: Instant) -> Duration {
    last.withLock { $0 = (now, uptime()) }
    return now - wall()
  }

  /// What the database would say now.
  public var now: Instant {
    last.withLock { last in last.map { $0.now + (uptime() - $0.at) } } ?? wall()
  }
}
