import Base
import Glibc
import Synchronization
import SystemSupport

/// Holds a service account's access token and keeps it valid, for all pools that use the account.
///
/// A thread of its own fetches each token, so that no push waits for an exchange while the old token
/// is valid.
final class AccessTokenMint: Sendable {
  enum Event: Hashable, Sendable {
    case fetched(lifetime: Duration)
    /// The next exchange is after `wait`; `life` is how long the token in use stays valid, nil if there
    /// is none.
    case failed(AccessTokenProblem, wait: Duration, life: Duration?)
    /// How far Google's clock is ahead; the next assertions are corrected for it.
    case clockSkew(Duration)
  }

  private struct State {
    var tokens: AccessTokenState
    var failures: [String: Int] = [:]
    var wakes: [@Sendable () -> Void] = []
    /// Cancels the exchange in flight.
    var exchange: TLSVerifier?
    var isClosed = false
  }

  let account: ServiceAccount
  private let exchange: OAuthExchange
  private let clock = ServerClock()
  private let now: @Sendable () -> Timestamp
  private let events: @Sendable (Event) -> Void
  /// Nil if the process had no file descriptor left; the thread then looks once a second.
  private let wake = EventFD()
  private let state: Mutex<State>

  /// Starts fetching at once, so that the first push does not wait. `close` ends the thread.
  ///
  /// - Parameters:
  ///   - inherited: The token of the account that this one replaces, which is sent until there is one
  ///     of this account.
  ///   - trust: A PEM file of certificate authorities trusted in addition to the system's.
  ///   - now: The wall clock, for assertions; it should be the service's own (the database's).
  ///   - events: Called on the mint's thread; it must not block.
  init(
    account: ServiceAccount, inheriting inherited: AccessTokenState.Token? = nil, trust: String?,
    connectTimeout: Duration = .seconds(5),
    timeout: Duration = .seconds(10), now: @escaping @Sendable () -> Timestamp,
    events: @escaping @Sendable (Event) -> Void
  ) {
    self.account = account
    self.now = now
    self.events = events
    state = Mutex(State(tokens: AccessTokenState(inheriting: inherited)))
    exchange = OAuthExchange(
      account: account, caFile: trust, connectLimit: connectTimeout, limit: timeout)
    // The thread retains the mint until `close`.
    if let thread = WorkerThread(named: "fcm-token", { self.run() }) {
      thread.detach()
    } else {
      let problem = AccessTokenProblem(
        word: "no_thread", text: "the system has no thread left", isOfConfiguration: false)
      state.withLock { _ = $0.tokens.failed(problem, at: .now(), random: 1) }
    }
  }

  /// Returns the token that connections send; nil if none is valid.
  func token() -> AccessTokenState.Token? {
    state.withLock { $0.tokens.token(at: .now()) }
  }

  /// Why the last exchange gave no token; nil if it gave one, or if none has ended.
  var problem: AccessTokenProblem? { state.withLock { $0.tokens.problem } }

  /// The age of the token in use; nil if there is none.
  var age: Duration? {
    let now = MonotonicTime.now()
    return state.withLock { $0.tokens.token(at: now).map { now - $0.fetchedAt } }
  }

  /// The number of exchanges that gave no token, by the problem's word.
  var failures: [String: Int] { state.withLock { $0.failures } }

  /// How far Google's clock is ahead of `now`; zero unless an answer has shown a difference that
  /// matters.
  var clockLead: Duration { clock.lead }

  /// Records that FCM refused a token with 401; it is replaced unless it is not the one in use, or
  /// was fetched seconds ago.
  func refused(_ authorization: [UInt8]) {
    let mustFetch = state.withLock { $0.tokens.refused(authorization, at: .now()) }
    if mustFetch { wake?.signal() }
  }

  /// Calls a closure after each exchange, on the mint's thread.
  func whenChanged(_ wake: @escaping @Sendable () -> Void) {
    state.withLock { $0.wakes.append(wake) }
  }

  /// Ends the thread, within about a second if an exchange is in flight. The token stays.
  func close() {
    let exchange = state.withLock { state in
      state.isClosed = true
      state.wakes = []
      return state.exchange
    }
    exchange?.cancel()
    wake?.signal()
  }

  private enum Turn {
    case fetch(TLSVerifier)
    case sleep(until: MonotonicTime)
    case end
  }

  private func run() {
    while true {
      switch nextTurn() {
      case .end: return
      case .fetch(let verifier): fetch(verifier)
      case .sleep(let until): sleep(until: until)
      }
    }
  }

  private func sleep(until: MonotonicTime) {
    // `poll` ignores a negative descriptor.
    var descriptor = pollfd(fd: wake?.descriptor ?? -1, events: Int16(POLLIN), revents: 0)
    let wait = until.pollTimeout(from: .now())
    unsafe _ = poll(&descriptor, 1, wake == nil ? min(wait, 1000) : wait)
    if descriptor.revents != 0 { wake?.clear() }
  }

  private func nextTurn() -> Turn {
    let verifier = exchange.verifier()
    return state.withLock { state in
      if state.isClosed { return .end }
      switch state.tokens.next(at: .now()) {
      case .wait(let until): return .sleep(until: until)
      case .fetch:
        state.exchange = verifier
        return .fetch(verifier)
      }
    }
  }

  private func fetch(_ verifier: TLSVerifier) {
    let time = now()
    let outcome = exchange.fetch(at: time + clock.lead, verifier)
    let (happened, wakes) = record(outcome, sentAt: time)
    happened.forEach(events)
    for wake in wakes { wake() }
  }

  /// Records the end of an exchange; returns its events, and whom to wake.
  private func record(
    _ outcome: OAuthExchange.Outcome, sentAt time: Timestamp
  ) -> (events: [Event], wakes: [@Sendable () -> Void]) {
    let skew = skew(outcome, sentAt: time)
    let random = Double.random(in: 0..<1)
    return state.withLock { state in
      state.exchange = nil
      // What a cancelled exchange reports is not Google's.
      if state.isClosed { return ([], []) }
      var events = skew.map { [Event.clockSkew($0)] } ?? []
      switch outcome.answer {
      case .token(let token, let lifetime):
        state.tokens.fetched(token, lifetime: lifetime, at: .now())
        events.append(.fetched(lifetime: lifetime))
      case .problem(let problem):
        state.failures[problem.word, default: 0] += 1
        let wait = state.tokens.failed(
          problem, isCorrected: skew != nil, at: .now(), random: random)
        events.append(.failed(problem, wait: wait, life: state.tokens.life(at: .now())))
      }
      return (events, state.wakes)
    }
  }

  /// Learns Google's clock from an answer that refused an assertion; returns the lead if it is new.
  ///
  /// Google does not say which clock it holds to be wrong: `invalid_grant` has many causes. So the
  /// `date` of each refusal counts, as far as it differs.
  private func skew(_ outcome: OAuthExchange.Outcome, sentAt time: Timestamp) -> Duration? {
    guard case .problem(let problem) = outcome.answer, problem.isOfConfiguration,
      let serverTime = outcome.serverTime
    else { return nil }
    return clock.learn(serverTime: serverTime, at: time)
  }
}
