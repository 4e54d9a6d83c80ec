/// Decides when the engine claims due rides: a state machine without a clock.
///
/// While claims come back full the node claims again at once, and producers need not notify it.
/// Before it rests it requests notifications and claims once more: that claim finds events that
/// were committed before producers could see the request.
struct PollPolicy {
  /// The next step of the claim loop.
  enum Step: Equatable {
    /// Claim, and record for producers whether they must notify this node.
    case look(asleep: Bool)
    /// Wait for a notification, at most this long.
    case rest(atMost: Duration)
  }

  /// The maximum rest without a notification, as a safety net.
  let pollInterval: Duration
  /// How long a commit may take to become visible after its producer checked for sleeping nodes.
  let commitDelay: Duration

  private var isAsleep = true
  private var looksSinceWork = 0

  init(pollInterval: Duration = .seconds(2), commitDelay: Duration = .milliseconds(50)) {
    self.pollInterval = pollInterval
    self.commitDelay = commitDelay
  }

  /// The step of the first claim, and of the first one after a rest.
  var look: Step { .look(asleep: isAsleep) }

  /// Returns the step after a claim of `rides`, at most `limit`; `untilDue` is the time to the next
  /// due ride.
  mutating func claimed(_ rides: Int, of limit: Int, untilDue: Duration?) -> Step {
    looksSinceWork = rides > 0 ? 0 : looksSinceWork + 1
    if rides >= limit {
      isAsleep = false
      return look
    }
    if !isAsleep {
      isAsleep = true
      return look
    }
    var rest = looksSinceWork < 2 ? commitDelay : pollInterval
    if let untilDue { rest = min(rest, max(untilDue, .milliseconds(1))) }
    return .rest(atMost: rest)
  }
}
