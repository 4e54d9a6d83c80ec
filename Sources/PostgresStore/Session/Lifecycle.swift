import Base
import RideCore

/// A state machine that decides when to connect, give up and reconnect.
struct Lifecycle: Sendable {
  typealias Instant = ContinuousClock.Instant

  enum State: Equatable {
    /// There is no connection; the next attempt begins at this moment.
    case waiting(until: Instant)
    /// An attempt is in progress, and is given up at this moment.
    case opening(until: Instant)
    /// The connection has been usable since this moment.
    case ready(since: Instant)
  }

  enum Action: Equatable { case none, open, giveUp }

  /// The age below which a lost connection counts as one more failed attempt.
  ///
  /// Otherwise a server that accepts and drops connections at once would be hammered.
  static let provenAfter: Duration = .seconds(5)

  /// How long a connection without traffic is trusted.
  ///
  /// After that it may be dead without an error, and must pass a liveness check before the next
  /// transaction.
  static let trustedFor: Duration = .seconds(1)

  /// How long the liveness check may take.
  static let livenessCheckLimit: Duration = .seconds(2)

  private(set) var state: State
  private var heardAt: Instant?
  private(set) var failures = 0
  private let backoff: Backoff
  /// The delays between attempts, short so that a server that is back is found soon: an attempt
  /// every second or so costs almost nothing.
  static let reconnecting = Backoff(first: .milliseconds(50), longest: .seconds(2))
  private let connectTimeout: Duration

  init(now: Instant, connectTimeout: Duration, backoff: Backoff = reconnecting) {
    state = .waiting(until: now)
    self.connectTimeout = connectTimeout
    self.backoff = backoff
  }

  /// The moment at which `tick` has something to do even if nothing else happens.
  var wake: Instant? {
    switch state {
    case .waiting(let until), .opening(let until): until
    case .ready: nil
    }
  }

  mutating func tick(now: Instant) -> Action {
    switch state {
    case .waiting(let until) where now >= until:
      state = .opening(until: now + connectTimeout)
      return .open
    case .opening(let until) where now >= until: return .giveUp
    case .waiting, .opening, .ready: return .none
    }
  }

  mutating func opened(now: Instant) {
    state = .ready(since: now)
    heardAt = now
  }

  /// Records that the server has answered.
  mutating func heard(now: Instant) {
    heardAt = now
  }

  /// Whether the connection was silent for so long that it needs a liveness check.
  func isDoubtful(now: Instant) -> Bool {
    guard case .ready(let since) = state else { return false }
    return now - (heardAt ?? since) >= Self.trustedFor
  }

  /// Records that the connection was lost or the attempt failed.
  mutating func lost(now: Instant, random: Double) {
    if case .ready(let since) = state, now - since >= Self.provenAfter { failures = 0 }
    state = .waiting(until: now + backoff.delay(failures: failures, random: random))
    failures += 1
  }
}
