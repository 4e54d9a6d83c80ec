/// Decides when the engine claims due rides: a state machine without a clock.
///
/// While claims come back full the node claims again at once, and producers need not notify it.
/// Before it rests it requests notifications and claims once more: that claim finds events that
/// were committed before producers could see the request.
struct PollPolicy {
  /// The next step of the claim loop.
  enum Step: Equatable {
    /// Claim, and record for producers whether they must notify this node.
    case claim(asleep: Bool)
    /// Wait for a notification, at most this long.
    case rest(atMost: Duration)
  }

  /// The maximum rest without a notification, as a safety net.
  let pollInterval: Duration
  /// How long a commit may take to become visible after its producer checked for sleeping nodes.
  let commitDelay: Duration

  private var isAsleep = true
  /// Whether producers have notified the node since the claim before the last.
  private var isNotified = false
  private var emptyClaims = 0

  init(pollInterval: Duration = .seconds(2), commitDelay: Duration = .milliseconds(50)) {
    self.pollInterval = pollInterval
    self.commitDelay = commitDelay
  }

  /// The step of the first claim, and of the first one after a rest.
  var claim: Step { .claim(asleep: isAsleep) }

  /// Records the time between two claims: producers do not notify a node that has not claimed for
  /// several seconds.
  mutating func passed(_ time: Duration) {
    if time > pollInterval * 2 { isNotified = false }
  }

  /// Returns the step after a claim of `rides`, at most `limit`.
  ///
  /// - Parameters:
  ///   - isNotified: whether producers that commit after the claim notify the node.
  ///   - untilDue: the time to the next due ride.
  mutating func claimed(
    _ rides: Int, of limit: Int, isNotified: Bool = false, untilDue: Duration?
  ) -> Step {
    emptyClaims = rides > 0 ? 0 : emptyClaims + 1
    let wasNotified = self.isNotified
    self.isNotified = isNotified
    if rides >= limit {
      isAsleep = false
      return claim
    }
    if !isAsleep {
      isAsleep = true
      return claim
    }
    // A producer that did not see the request yet may have committed after the claim.
    let isSure = isNotified ? wasNotified : emptyClaims >= 2
    var rest = isSure ? pollInterval : commitDelay
    if let untilDue { rest = min(rest, max(untilDue, .milliseconds(1))) }
    return .rest(atMost: rest)
  }
}

/// The number of rides per statement: halved after each timeout, doubled after a streak of
/// successes.
struct BatchSize: Equatable {
  /// The size without timeouts.
  let maximum: Int
  /// The current size.
  private(set) var size: Int
  private var worked = 0

  /// How many full batches must succeed before the size is doubled.
  static let streak = 8

  init(maximum: Int) {
    self.maximum = max(1, maximum)
    size = self.maximum
  }

  /// Records that a batch of this many rides timed out.
  mutating func timedOut(_ count: Int) {
    size = max(1, min(size, count) / 2)
    worked = 0
  }

  /// Records that a batch of this many rides succeeded; a batch smaller than `size` does not count.
  mutating func worked(_ count: Int) {
    guard size < maximum, count >= size else { return }
    worked += 1
    if worked < Self.streak { return }
    size = min(maximum, size * 2)
    worked = 0
  }
}
