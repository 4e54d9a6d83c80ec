import RideCore

/// Whether the pushes of one app go at all: a storm of refusals is not answered with more pushes.
///
/// After a storm the lane is closed for a while; then one push goes as a probe. If APNs takes it the
/// lane is open again, else it is closed for twice as long. Nothing is said of the phones: a storm is
/// of the configuration, or of APNs.
struct CircuitBreaker: Equatable {
  /// What may be done with a push now.
  enum Admission: Equatable {
    case go
    /// Not before this.
    case wait(until: Timestamp)
  }

  /// What an outcome has changed.
  enum Change: Equatable {
    case paused(until: Timestamp, problems: Int, of: Int)
    case resumed
  }

  private enum Phase: Equatable {
    case open
    /// Closed until then.
    case closed(until: Timestamp)
    /// One push is on its way; the others wait for its end, but not for ever.
    case probing(until: Timestamp)
  }

  /// As many as fit into `recent`, or fewer.
  static let window = 50
  static let least = 20
  static let pauses = Backoff(first: .seconds(5), longest: .seconds(60))
  /// A probe's answer comes within a push's deadline.
  static let probeTime: Duration = .seconds(11)

  private var phase = Phase.open
  /// How the last pushes ended: a bit for each, 1 where that was trouble, the newest the lowest.
  private var recent: UInt64 = 0
  private var count = 0
  private var pausesInARow = 0

  /// Whether pushes wait.
  var isPaused: Bool { phase != .open }

  /// Asks for one push.
  mutating func admit(at now: Timestamp) -> Admission {
    switch phase {
    case .open: return .go
    case .closed(let until) where now < until: return .wait(until: until)
    case .probing(let until) where now < until: return .wait(until: now + .seconds(1))
    case .closed, .probing:
      phase = .probing(until: now + Self.probeTime)
      return .go
    }
  }

  /// Takes note of how a push ended.
  mutating func record(_ outcome: PushOutcome, at now: Timestamp) -> Change? {
    guard let isProblem = outcome.tripsBreaker else { return nil }
    if case .probing = phase {
      if isProblem { return pause(at: now) }
      phase = .open
      recent = 0
      count = 0
      pausesInARow = 0
      return .resumed
    }
    // What was on its way when the lane was closed says nothing new.
    guard phase == .open else { return nil }
    recent = (recent << 1 | (isProblem ? 1 : 0)) & (1 << Self.window - 1)
    count = min(count + 1, Self.window)
    guard count >= Self.least, problems * 5 >= count * 3 else { return nil }
    return pause(at: now)
  }

  private var problems: Int { recent.nonzeroBitCount }

  private mutating func pause(at now: Timestamp) -> Change {
    let until = now + Self.pauses.delay(failures: pausesInARow, random: 1)
    pausesInARow += 1
    phase = .closed(until: until)
    return .paused(until: until, problems: problems, of: count)
  }
}

extension PushOutcome {
  /// Whether it is a sign that no push of the app goes well; nil where it says nothing of the others.
  fileprivate var tripsBreaker: Bool? {
    switch self {
    case .accepted: return false
    case .unanswered: return true
    case .unsent(.closed), .unsent(.heldBack), .unsent(.invalid), .unsent(.paused): return nil
    case .unsent: return true
    case .refused(let refusal):
      if refusal.reason == "TooManyRequests" { return nil }
      let rule = refusal.rule
      if rule.token == .suspect || rule.isOfConfiguration { return true }
      // APNs works, and has looked at this one.
      return rule.push != .rejected
    }
  }
}
