import RideCore

/// A circuit breaker that pauses the pushes of one app while most of them fail.
///
/// After too many failures the breaker opens for a while; then one push is sent as a probe. If APNs
/// accepts it the breaker closes, otherwise it stays open for twice as long. Opening it never
/// invalidates tokens: mass refusals mean bad configuration or an APNs outage.
struct CircuitBreaker: Equatable {
  /// Whether a push may be sent now.
  enum Admission: Equatable {
    case go
    /// The push may not be sent before this time.
    case wait(until: Timestamp)
  }

  /// How an outcome has changed the breaker.
  enum Change: Equatable {
    case paused(until: Timestamp, problems: Int, of: Int)
    case resumed
  }

  private enum Phase: Equatable {
    /// Pushes are sent.
    case closed
    /// No push is sent before this time.
    case open(until: Timestamp)
    /// One push is in flight as a probe; the others wait for its outcome, up to this time.
    case halfOpen(until: Timestamp)
  }

  /// The number of recent outcomes that count, at most the bits of `recent`, and the least for a
  /// pause.
  static let window = 50
  static let least = 20
  static let pauses = Backoff(first: .seconds(5), longest: .seconds(60))
  /// How long a probe may take: longer than the deadline of a push.
  static let probeTime: Duration = .seconds(11)

  private var phase = Phase.closed
  /// The latest outcomes, one bit each, the newest in the lowest bit; 1 is a failure.
  private var recent: UInt64 = 0
  private var count = 0
  private var pausesInARow = 0

  var isPaused: Bool { phase != .closed }

  /// Requests admission for one push.
  mutating func admit(at now: Timestamp) -> Admission {
    switch phase {
    case .closed: return .go
    case .open(let until) where now < until: return .wait(until: until)
    case .halfOpen(let until) where now < until: return .wait(until: now + .seconds(1))
    case .open, .halfOpen:
      phase = .halfOpen(until: now + Self.probeTime)
      return .go
    }
  }

  /// Records the outcome of a push; returns the change that it caused.
  ///
  /// A refused token that belongs to nothing known does not count: no quarantine ends such refusals,
  /// so that a few of them would pause the pushes to all phones.
  mutating func record(
    _ outcome: PushOutcome, to owner: TokenOwner = .card, at now: Timestamp
  ) -> Change? {
    if owner == .unknown, outcome.refusesToken {
      // As a probe it reveals nothing, and the next push is the probe.
      if case .halfOpen = phase { phase = .open(until: now) }
      return nil
    }
    guard let isProblem = outcome.tripsBreaker else { return nil }
    if case .halfOpen = phase {
      if isProblem { return pause(at: now) }
      phase = .closed
      recent = 0
      count = 0
      pausesInARow = 0
      return .resumed
    }
    // Pushes that were in flight when the breaker opened carry no new information.
    guard phase == .closed else { return nil }
    recent = (recent << 1 | (isProblem ? 1 : 0)) & (1 << Self.window - 1)
    count = min(count + 1, Self.window)
    guard count >= Self.least, problems * 5 >= count * 3 else { return nil }
    return pause(at: now)
  }

  private var problems: Int { recent.nonzeroBitCount }

  private mutating func pause(at now: Timestamp) -> Change {
    let until = now + Self.pauses.delay(failures: pausesInARow, random: 1)
    pausesInARow += 1
    phase = .open(until: until)
    return .paused(until: until, problems: problems, of: count)
  }
}

extension PushOutcome {
  /// Whether the outcome indicates that all pushes of the app fail; nil if it does not concern
  /// other pushes.
  fileprivate var tripsBreaker: Bool? {
    switch self {
    case .accepted: return false
    case .unanswered: return true
    case .unsent(.closed), .unsent(.heldBack), .unsent(.invalid), .unsent(.noCredential),
      .unsent(.paused):
      return nil
    case .unsent: return true
    case .refused(let refusal):
      if refusal.reason == "TooManyRequests" { return nil }
      let rule = refusal.rule
      if rule.token == .suspect || rule.isOfConfiguration { return true }
      // APNs works and has examined this push.
      return rule.push != .rejected
    }
  }
}
