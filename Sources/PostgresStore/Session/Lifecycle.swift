import RideCore

/// When to connect, when to give up, when to try again: the life of one connection as a value.
struct Lifecycle: Sendable {
  typealias Instant = ContinuousClock.Instant

  enum State: Equatable {
    /// No connection; the next attempt begins at this moment.
    case waiting(until: Instant)
    /// An attempt is under way, and is given up at this moment.
    case opening(until: Instant)
    /// Usable since this moment.
    case ready(since: Instant)
  }

  enum Action: Equatable { case none, open, giveUp }

  /// A connection that dies younger than this counts as one more failure, so that a server that
  /// accepts and drops at once is not hammered.
  static let provenAfter: Duration = .seconds(5)

  /// A connection over which nothing came for so long may be dead without a word: it is asked for a
  /// sign of life before anything is entrusted to it.
  static let trustedFor: Duration = .seconds(1)

  /// How long a sign of life may take.
  static let signOfLifeLimit: Duration = .seconds(2)

  private(set) var state: State
  private var heardAt: Instant?
  private(set) var failures = 0
  private let backoff: Backoff
  /// A server that is back is noticed soon: an attempt each second or so costs nobody anything.
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

  /// The server has said something.
  mutating func heard(now: Instant) {
    heardAt = now
  }

  /// True where nobody knows whether the server is still there.
  func isDoubtful(now: Instant) -> Bool {
    guard case .ready(let since) = state else { return false }
    return now - (heardAt ?? since) >= Self.trustedFor
  }

  /// The connection or the attempt is gone.
  mutating func lost(now: Instant, random: Double) {
    if case .ready(let since) = state, now - since >= Self.provenAfter { failures = 0 }
    state = .waiting(until: now + backoff.delay(failures: failures, random: random))
    failures += 1
  }
}
