/// Decides whether the service of a lane is silent: pushes were sent, and nothing was answered since.
///
/// A value without a clock. Any answer counts, a refusal as well, so that a lane with answers is never
/// silent, however late they are.
struct LaneSilence: Equatable {
  /// How long pushes of a lane may stay without any answer.
  static let limit: Duration = .seconds(2)
  /// The same of a lane without an answer for `memory`, or to its present credential: its push may
  /// wait for a connection and for an access token.
  static let firstLimit: Duration = .seconds(4)
  /// The deadline of a push, after which the transport ends it itself.
  static let longestLimit: Duration = .seconds(10)
  /// How long a slow answer raises the limit at least, and an answer shows that the lane is in use.
  static let memory: Duration = .seconds(60)
  /// The faster answers after which a slow one counts no longer: time alone shows nothing.
  static let fasterAnswers = 10
  /// The pushes without an answer that pause a lane: one may be a stream that was lost.
  static let least = 2

  /// The slowest of the latest answers.
  private struct Slowest: Equatable {
    var latency: Duration
    var at: Duration
    /// The answers since, and the slowest among these.
    var faster = 0
    var next: Duration = .zero
  }

  /// When a push of the lane was last answered, as uptime; pushes that were sent before prove nothing.
  private var answeredAt: Duration?
  private var slowest: Slowest?
  /// Whether the lane's present credential has had no answer.
  private var isNew = true
  /// Whether pushes are without an answer for longer than the limit.
  private(set) var isSilent = false
  /// When a push of the lane last timed out without an answer since.
  private var timedOutAt: Duration?

  /// Records an answer to a push that was sent at the given uptime.
  mutating func answered(sentAt: Duration, at uptime: Duration) {
    if counts(sentAt) { isNew = false }
    answeredAt = uptime
    isSilent = false
    timedOutAt = nil
    recordLatency(uptime - sentAt, at: uptime)
  }

  /// Records that a push reached its deadline without an answer. It counts as one of those that pause
  /// the lane: a lane with few pushes never has two at a time.
  mutating func timedOut(sentAt: Duration, at uptime: Duration) {
    if counts(sentAt) { timedOutAt = uptime }
  }

  /// Whether a push was answered since an uptime.
  func isAnswered(since uptime: Duration) -> Bool { answeredAt.map { $0 > uptime } ?? false }

  private mutating func recordLatency(_ latency: Duration, at uptime: Duration) {
    guard var known = slowest, known.latency > latency else {
      slowest = Slowest(latency: latency, at: uptime)
      return
    }
    known.faster += 1
    known.next = max(known.next, latency)
    let isOver = known.faster >= Self.fasterAnswers && uptime - known.at >= Self.memory
    slowest = isOver ? Slowest(latency: known.next, at: uptime) : known
  }

  /// Disregards the pushes that are in flight now: the lane's credential was replaced.
  mutating func restart(at uptime: Duration) {
    answeredAt = uptime
    isSilent = false
    isNew = true
    timedOutAt = nil
  }

  /// How long pushes of a lane in use may stay without any answer: longer if the service is slow.
  var limit: Duration {
    let least = isNew ? Self.firstLimit : Self.limit
    return min(Self.longestLimit, max(least, (slowest?.latency ?? .zero) * 3 / 2))
  }

  /// How long a push that was sent at this uptime may stay without any answer.
  private func limit(of sentAt: Duration) -> Duration {
    let isIdle = answeredAt.map { sentAt - $0 >= Self.memory } ?? true
    return isIdle ? max(limit, Self.firstLimit) : limit
  }

  /// Whether a push that was sent at this uptime has had no answer of the lane since.
  func counts(_ sentAt: Duration) -> Bool { answeredAt.map { sentAt >= $0 } ?? true }

  /// Whether pushes may have been without an answer for longer than the limit.
  func mayBeSilent(at uptime: Duration) -> Bool {
    isSilent || answeredAt.map { uptime - $0 >= limit } ?? true
  }

  /// Records the pushes without an answer; returns whether the lane must pause.
  mutating func observe(_ pushes: [InFlight.OpenPush], at uptime: Duration) -> Bool {
    let waits = pushes.filter { counts($0.sentAt) }
      .map { (wait: uptime - $0.sentAt - $0.held, limit: limit(of: $0.sentAt)) }
    isSilent = waits.contains { $0.wait >= $0.limit }
    // One that was sent a moment ago proves nothing.
    let earlier = timedOutAt.map { uptime - $0 < Self.memory } == true ? 1 : 0
    return isSilent && earlier + waits.count { $0.wait >= $0.limit / 2 } >= Self.least
  }
}
