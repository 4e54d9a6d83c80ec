package import Base
import Foundation
import RideCore
import Synchronization

/// An estimate of the database's time between its answers.
///
/// A node whose local clock is wrong still decides correctly, and signs tokens in the same windows
/// as every other node.
package final class DatabaseClock: Sendable {
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
  package static func ofThisMachine() -> DatabaseClock {
    let clock = ContinuousClock()
    let start = clock.now
    return DatabaseClock(
      wall: { Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1e6)) },
      uptime: { start.duration(to: clock.now) })
  }

  /// Records the database's time from an answer to a request made at the given uptime.
  ///
  /// - Returns: how far the database's clock is ahead of this machine's clock, at least.
  @discardableResult
  func record(_ now: Timestamp, requestedAt: Duration) -> Duration {
    let reading = ClockBounds(now, asked: requestedAt, answered: uptime())
    bounds.withLock { bounds in
      if bounds == nil { bounds = reading } else { bounds?.learn(reading) }
    }
    return earliest - wall()
  }

  /// The latest possible time of the database; a message that is still valid at this time is valid.
  package var now: Timestamp {
    bounds.withLock { bounds in bounds.map { $0.latest + uptime() } } ?? wall()
  }

  /// Whether the database has answered.
  package var isKnown: Bool { bounds.withLock { $0 != nil } }

  /// The earliest possible time of the database; a ride that is due at this time is due.
  var earliest: Timestamp {
    bounds.withLock { bounds in bounds.map { $0.earliest + uptime() } } ?? wall()
  }
}

/// The bounds of another clock, derived from readings: each was taken between its request and its
/// answer.
///
/// A slow request, or an answer that waited while the machine slept, yields wide bounds; other
/// readings narrow them. If the bounds of two readings do not overlap, the clock was set or has
/// drifted, and the later reading replaces the earlier one.
struct ClockBounds: Equatable {
  /// The other clock's time at which the local monotonic clock was zero.
  private(set) var earliest: Timestamp
  private(set) var latest: Timestamp

  /// Creates the bounds of one reading; `asked` and `answered` are times of the local monotonic
  /// clock.
  init(_ reading: Timestamp, asked: Duration, answered: Duration) {
    earliest = reading - answered
    latest = reading - min(asked, answered)
  }

  /// Combines these bounds with those of a later reading.
  mutating func learn(_ other: ClockBounds) {
    let both = (earliest: max(earliest, other.earliest), latest: min(latest, other.latest))
    if both.earliest <= both.latest {
      (earliest, latest) = both
    } else {
      self = other
    }
  }
}
