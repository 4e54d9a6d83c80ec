import Base
import Synchronization

/// A clock that runs ten times as fast as the system's, and stands still while its readers have no
/// thread: next to tests that compute, half a minute may pass between two readings.
final class FastClock: Clock {
  struct Instant: InstantProtocol {
    /// The time since the clock was created.
    var offset: Duration

    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

    func duration(to other: Instant) -> Duration { other.offset - offset }

    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private static let factor = 10
  /// The most that passes between two readings.
  private static let longestStep = Duration.seconds(1)

  private let system = ContinuousClock()
  private let last = Mutex((real: ContinuousClock.now, offset: Duration.zero))

  var now: Instant {
    last.withLock { last in
      let real = system.now
      last.offset += min(last.real.duration(to: real) * Self.factor, Self.longestStep)
      last.real = real
      return Instant(offset: last.offset)
    }
  }

  var minimumResolution: Duration { system.minimumResolution * Self.factor }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    while case let rest = now.duration(to: deadline), rest > .zero {
      let pause = min(rest, Self.longestStep) / Self.factor
      try await system.sleep(for: pause)  // poll: the sleep of this clock
    }
  }
}
