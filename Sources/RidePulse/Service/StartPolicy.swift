import Base
import RideCore

/// Decides how the start of a service continues after an attempt to use the database failed.
struct StartPolicy {
  enum Step: Equatable {
    /// Waits and tries again. `isNew` if the reason differs from that of the last attempt.
    case wait(reason: String, isNew: Bool, atMost: Duration)
    /// Waiting cannot help, or has lasted long enough.
    case fail(String)
  }

  /// How long the start may wait; nil for any time.
  let limit: Duration?
  private var reason: String?
  private var failures = 0

  /// In addition to the delays of the session, which paces its attempts to connect.
  static let pause = Backoff(first: .milliseconds(50), longest: .seconds(2))

  init(limit: Duration?) {
    self.limit = limit
  }

  /// Returns the next step.
  ///
  /// - Parameters:
  ///   - obstacle: The error of the attempt.
  ///   - elapsed: The time since the start began.
  ///   - random: From 0 to 1, to spread the attempts of several nodes.
  mutating func next(after obstacle: StartObstacle, elapsed: Duration, random: Double) -> Step {
    let text = obstacle.reason
    if obstacle.isFinal { return .fail(obstacle.message) }
    if let limit, elapsed >= limit { return .fail(obstacle.message) }
    defer {
      reason = text
      failures += 1
    }
    return .wait(
      reason: text, isNew: text != reason,
      atMost: Self.pause.delay(failures: failures, random: random))
  }
}
