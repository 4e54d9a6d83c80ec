import Base

/// Decides when a service account's access token is fetched, and which one is sent.
///
/// A value without clock or network; times are monotonic.
struct AccessTokenState: Sendable {
  struct Token: Hashable, Sendable {
    /// The value of `authorization`.
    let authorization: [UInt8]
    let fetchedAt: MonotonicTime
    let expiresAt: MonotonicTime
  }

  enum Step: Hashable {
    case fetch
    /// Nothing to do before this time, or before another call.
    case wait(until: MonotonicTime)
  }

  /// A token is replaced this long before its end.
  static let renewal: Duration = .seconds(300)
  /// The wait after an answer that a person has to correct.
  static let longWait: Duration = .seconds(60)
  /// A younger token is kept although FCM refused it: another one would be refused as well.
  static let youth: Duration = .seconds(5)

  private var latest: Token?
  /// Why the last fetch failed; nil if it did not.
  private(set) var problem: AccessTokenProblem?
  private var fetchAt = MonotonicTime(nanoseconds: 0)
  private var isFetching = false
  private var failures = 0
  /// True if the clock was corrected and no token has come since.
  private var wasCorrected = false
  private static let backoff = Backoff(first: .seconds(1), longest: .seconds(60))

  /// - Parameter inherited: The token of the account before, which is sent until there is another one.
  init(inheriting inherited: Token? = nil) { latest = inherited }

  /// Returns the token to send; nil if none is valid.
  func token(at now: MonotonicTime) -> Token? {
    latest.flatMap { $0.expiresAt > now ? $0 : nil }
  }

  /// Returns how long the token in use stays valid; nil if there is none.
  func life(at now: MonotonicTime) -> Duration? { token(at: now).map { $0.expiresAt - now } }

  /// Returns what to do now; `fetch` once for each end of a fetch.
  mutating func next(at now: MonotonicTime) -> Step {
    if isFetching { return .wait(until: .never) }
    guard fetchAt <= now else { return .wait(until: fetchAt) }
    isFetching = true
    return .fetch
  }

  mutating func fetched(_ token: String, lifetime: Duration, at now: MonotonicTime) {
    latest = Token(
      authorization: Array("Bearer \(token)".utf8), fetchedAt: now, expiresAt: now + lifetime)
    problem = nil
    isFetching = false
    failures = 0
    wasCorrected = false
    // A token of a few minutes is replaced at half its life.
    fetchAt = now + max(lifetime - Self.renewal, lifetime / 2)
  }

  /// Records the end of a fetch without a token, and returns the wait before the next.
  ///
  /// - Parameters:
  ///   - isCorrected: True if the clock of the next assertion is another one; that is tried at once,
  ///     but not twice.
  ///   - random: in 0 ..< 1.
  mutating func failed(
    _ problem: AccessTokenProblem, isCorrected: Bool = false, at now: MonotonicTime, random: Double
  ) -> Duration {
    self.problem = problem
    isFetching = false
    let isTriedAtOnce = isCorrected && !wasCorrected
    wasCorrected = wasCorrected || isCorrected
    let wait = isTriedAtOnce ? .zero : wait(after: problem, random)
    if !isTriedAtOnce { failures += 1 }
    fetchAt = now + wait
    return wait
  }

  private func wait(after problem: AccessTokenProblem, _ random: Double) -> Duration {
    let longest =
      problem.isOfConfiguration
      ? Self.longWait : Self.backoff.delay(failures: failures, random: 1)
    // Within a tenth, so that nodes that failed together do not try together.
    let share = 0.9 + 0.2 * min(max(random, 0), 1)
    return .microseconds((longest * share).microseconds)
  }

  /// Records that FCM refused a token with 401; returns whether another one is to be fetched.
  ///
  /// Only the token in use counts: the refusals of a replaced one arrive for seconds.
  mutating func refused(_ authorization: [UInt8], at now: MonotonicTime) -> Bool {
    guard let latest, latest.authorization == authorization,
      now - latest.fetchedAt >= Self.youth
    else { return false }
    self.latest = nil
    fetchAt = now
    return true
  }
}

/// Why there is no access token; safe to log.
package struct AccessTokenProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// A short word for metrics: OAuth's error, `HTTP 503`, `no_connection`.
  package let word: String
  /// The status of the token endpoint's answer; nil without one.
  package let status: Int?
  /// What no connection failed at; nil if the endpoint was reached.
  package let connectivity: ConnectivityFailure.Kind?
  /// The problem in one line, with Google's description.
  package let text: String
  /// True if the file, the key or the project has to be corrected.
  package let isOfConfiguration: Bool

  init(
    word: String, status: Int? = nil, connectivity: ConnectivityFailure.Kind? = nil, text: String,
    isOfConfiguration: Bool
  ) {
    self.word = word
    self.status = status
    self.connectivity = connectivity
    self.text = text
    self.isOfConfiguration = isOfConfiguration
  }

  package var description: String { text }
}
