import Base

/// A clock that runs ten times as fast as the system's.
struct FastClock: Clock {
  struct Instant: InstantProtocol {
    /// The time since the clock was created.
    var offset: Duration

    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

    func duration(to other: Instant) -> Duration { other.offset - offset }

    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  static let factor = 10

  private let system = ContinuousClock()
  private let start = ContinuousClock.now

  var now: Instant { Instant(offset: start.duration(to: system.now) * Self.factor) }

  var minimumResolution: Duration { system.minimumResolution * Self.factor }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let pause = (deadline.offset - now.offset) / Self.factor
    try await system.sleep(for: pause)  // poll: the sleep of this clock
  }
}
