/// When the engine looks for due rides: a state machine without a clock.
///
/// While claims come back full the node looks again and again, and producers need not notify it.
/// Before it rests it tells them to, and looks once more: an event that was committed before they
/// could know is found then.
struct PollPolicy {
  /// What to do next.
  enum Step: Equatable {
    /// Claim, having told producers whether they must notify this node.
    case look(asleep: Bool)
    /// Wait for a notification, at most this long.
    case rest(atMost: Duration)
  }

  /// The safety net: how long the node rests where nothing wakes it.
  let pollInterval: Duration
  /// How long a commit may lie between a producer's look at the sleepers and its being visible.
  let commitDelay: Duration

  private var isAsleep = true
  private var looksSinceWork = 0

  init(pollInterval: Duration = .seconds(2), commitDelay: Duration = .milliseconds(50)) {
    self.pollInterval = pollInterval
    self.commitDelay = commitDelay
  }

  /// What the first claim, and one after a rest, tells producers.
  var look: Step { .look(asleep: isAsleep) }

  /// A claim brought this many rides of at most `limit`; the next one falls due after `untilDue`.
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
