import Base
import RideCore

/// A circuit breaker that pauses the pushes of one app while most of them fail.
///
/// After too many failures the breaker opens for a while; then one push is sent as a probe. If it is
/// accepted the breaker closes, otherwise it stays open for twice as long. Opening it never
/// invalidates tokens: mass refusals mean bad configuration or an outage.
///
/// If the service could not be reached, the next push after a connection is open is the probe. If
/// FCM answers that the project's quota is used up, one answer is enough. If the service answers
/// nothing at all, the breaker opens at once, and any answer closes it.
struct CircuitBreaker: Equatable {
  /// Whether a push may be sent now.
  enum Admission: Equatable {
    case go
    /// The push may not be sent before this time.
    case wait(until: Timestamp, PauseCause = .refused)
  }

  /// How an outcome has changed the breaker.
  enum Change: Equatable {
    case paused(until: Timestamp, problems: Int, of: Int, by: PauseCause = .refused)
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
  /// The pauses while the service can't be reached: nothing is to be fixed at the service, so that a
  /// network that works again is noticed soon.
  static let unreachablePauses = Backoff(first: .seconds(2), longest: .seconds(15))
  /// How long a probe may take: longer than the deadline of a push.
  static let probeTime: Duration = .seconds(11)

  private var phase = Phase.closed
  /// The latest outcomes, one bit each, the newest in the lowest bit; 1 is a failure.
  private var recent: UInt64 = 0
  /// Of these failures, those at which APNs was not reached.
  private var unreached: UInt64 = 0
  private var count = 0
  private var pausesInARow = 0
  private var lastCause = PauseCause.refused
  /// Whether there was no connection at some time of the pause.
  private var wasDisconnected = false

  /// Whether it is open because the service answers nothing.
  private(set) var isSilent = false

  var isPaused: Bool { cause != nil }

  /// Whether a probe is in flight.
  var isProbing: Bool { if case .halfOpen = phase { true } else { false } }

  /// Why the breaker is open; nil while it is closed.
  var cause: PauseCause? { phase == .closed ? nil : lastCause }

  /// Requests admission for one push.
  mutating func admit(at now: Timestamp) -> Admission {
    switch phase {
    case .closed: return .go
    case .open(let until) where now < until: return .wait(until: until, lastCause)
    case .halfOpen(let until) where now < until: return .wait(until: now + .seconds(1), lastCause)
    case .open, .halfOpen:
      phase = .halfOpen(until: now + Self.probeTime)
      return .go
    }
  }

  /// Returns how long pushes of the lane wait at this time; nil while they may be sent.
  func wait(at now: Timestamp) -> Duration? {
    switch phase {
    case .closed: nil
    case .open(let until): max(.zero, until - now)
    case .halfOpen: .seconds(1)
    }
  }

  /// Whether the next push may be sent.
  func isReady(at now: Timestamp) -> Bool {
    switch phase {
    case .closed: true
    case .open(let until), .halfOpen(let until): until <= now
    }
  }

  /// Opens because nothing was answered, or because the probe was not; returns the change.
  ///
  /// - Parameter unanswered: the number of pushes without an answer.
  mutating func recordSilence(unanswered: Int, at now: Timestamp) -> Change? {
    if case .open = phase { return nil }
    isSilent = true
    return pause(by: .unreachable, problems: unanswered, of: unanswered, at: now)
  }

  /// Records the outcome of a push; returns the change that it caused.
  ///
  /// A refused token that belongs to nothing known does not count: no quarantine ends such refusals,
  /// so that a few of them would pause the pushes to all phones.
  ///
  /// - Parameter isProved: Whether a token that is gone shows that the service works; otherwise it
  ///   may be gone because of the configuration.
  mutating func record(
    _ outcome: PushOutcome, to owner: TokenOwner = .card, isProved: Bool = true, at now: Timestamp
  ) -> Change? {
    if isSilent, outcome.isAnswer {
      self = CircuitBreaker()
      return record(outcome, to: owner, isProved: isProved, at: now) ?? .resumed
    }
    if owner == .unknown, outcome.refusesToken {
      // As a probe it reveals nothing, and the next push is the probe.
      if case .halfOpen = phase { phase = .open(until: now) }
      return nil
    }
    if let pause = outcome.pauseOfLane { return hold(until: now + pause) }
    let failure: PauseCause?
    switch outcome.meaning(isProved: isProved) {
    case .none: return nil
    case .success: failure = nil
    case .failure(let cause): failure = cause
    }
    if case .halfOpen = phase {
      if let failure {
        return pause(by: failure, problems: max(1, problems), of: max(1, count), at: now)
      }
      self = CircuitBreaker()
      return .resumed
    }
    // Pushes that were in flight when the breaker opened carry no new information.
    guard phase == .closed else { return nil }
    let mask: UInt64 = 1 << Self.window - 1
    recent = (recent << 1 | (failure == nil ? 0 : 1)) & mask
    unreached = (unreached << 1 | (failure == .unreachable ? 1 : 0)) & mask
    count = min(count + 1, Self.window)
    guard count >= Self.least, problems * 5 >= count * 3 else { return nil }
    let isUnreachable = unreached.nonzeroBitCount * 2 > problems
    return pause(
      by: isUnreachable ? .unreachable : .refused, problems: problems, of: count, at: now)
  }

  /// Records whether a connection to APNs is open; returns whether the breaker waited for it.
  ///
  /// The next push is the probe: a connection alone does not show that APNs accepts pushes. One that
  /// was open all the while, and answers no push, ends no pause.
  mutating func observe(isConnected: Bool, at now: Timestamp) -> Bool {
    guard case .open(let until) = phase, until > now, lastCause == .unreachable else {
      return false
    }
    if !isConnected { wasDisconnected = true }
    guard isConnected, wasDisconnected else { return false }
    wasDisconnected = false
    phase = .open(until: now)
    return true
  }

  /// Pauses until a time that the service asks for; one that is later than a pause prolongs it.
  private mutating func hold(until: Timestamp) -> Change? {
    if case .open(let known) = phase {
      phase = .open(until: max(known, until))
      return nil
    }
    let isNew = phase == .closed
    phase = .open(until: until)
    lastCause = .refused
    wasDisconnected = false
    return isNew ? .paused(until: until, problems: 1, of: 1) : nil
  }

  private var problems: Int { recent.nonzeroBitCount }

  private mutating func pause(
    by cause: PauseCause, problems: Int, of count: Int, at now: Timestamp
  ) -> Change {
    // What is refused has an answer, or needs none: the credential is at fault.
    if cause == .refused { isSilent = false }
    let pauses = cause == .unreachable ? Self.unreachablePauses : Self.pauses
    let until = now + pauses.delay(failures: pausesInARow, random: 1)
    pausesInARow += 1
    phase = .open(until: until)
    lastCause = cause
    wasDisconnected = false
    return .paused(until: until, problems: problems, of: count, by: cause)
  }
}

extension PushOutcome {
  /// What an outcome shows about all pushes of the app.
  fileprivate enum Meaning {
    case none
    case success
    case failure(PauseCause)
  }

  fileprivate func meaning(isProved: Bool) -> Meaning {
    switch self {
    case .accepted: return .success
    case .unanswered: return .failure(.unreachable)
    case .unsent(let cause): return cause.meaning
    case .refused(let refusal):
      let rule = refusal.rule
      if rule.scope == .phone { return .none }
      if rule.token == .suspect || rule.isOfConfiguration { return .failure(.refused) }
      if rule.token == .gone, !isProved { return .failure(.refused) }
      // The service works and has examined this push.
      return rule.push == .rejected ? .success : .failure(.refused)
    }
  }
}

extension PushOutcome {
  /// Whether the service has answered the push, in whatever way.
  var isAnswer: Bool {
    switch self {
    case .accepted, .refused: true
    case .unsent(.turnedAway(let refusal)): refusal.reason != Refusal.tokenEndpoint
    case .unsent, .unanswered: false
    }
  }

  /// How long the service asks for no push of the lane; nil if it does not.
  var pauseOfLane: Duration? {
    guard case .refused(let refusal) = self, refusal.rule.scope == .lane else { return nil }
    return refusal.quotaWait
  }
}

extension UnsentCause {
  fileprivate var meaning: PushOutcome.Meaning {
    switch self {
    case .closed, .queuedBehind, .invalid, .noCredential, .receiverOff, .paused, .outdated,
      .handedBack:
      .none
    case .noConnection, .goAway, .refusedStream, .queuedTooLong: .failure(.unreachable)
    case .certificateRefused, .turnedAway: .failure(.refused)
    }
  }
}
