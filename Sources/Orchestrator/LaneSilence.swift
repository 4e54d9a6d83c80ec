/// Decides whether the service of a lane is silent: pushes were sent, and nothing was answered since.
///
/// A value without a clock. Any answer counts, a refusal as well, so that a lane with answers is never
/// silent, however late they are.
struct LaneSilence: Equatable {
  /// How long pushes of a lane may stay without any answer.
  static let limit: Duration = .seconds(2)
  /// The same of a lane that never had an answer: its first push may wait for a connection and for
  /// an access token.
  static let firstLimit: Duration = .seconds(4)
  /// The deadline of a push, after which the transport ends it itself.
  static let longestLimit: Duration = .seconds(10)
  /// How long a slow answer raises the limit.
  static let memory: Duration = .seconds(60)
  /// The pushes without an answer that pause a lane: one may be a stream that was lost.
  static let least = 2

  /// When a push of the lane was last answered, as uptime; pushes that were sent before prove nothing.
  private var answeredAt: Duration?
  /// A slow answer of the last minute.
  private var slowest: (latency: Duration, at: Duration)?
  /// Whether pushes are without an answer for longer than the limit.
  private(set) var isSilent = false

  static func == (left: Self, right: Self) -> Bool {
    left.answeredAt == right.answeredAt && left.isSilent == right.isSilent
      && left.slowest?.latency == right.slowest?.latency && left.slowest?.at == right.slowest?.at
  }

  /// Records an answer to a push that was sent at the given uptime.
  mutating func answered(sentAt: Duration, at uptime: Duration) {
    answeredAt = uptime
    isSilent = false
    let latency = uptime - sentAt
    if let slowest, slowest.latency > latency, uptime - slowest.at < Self.memory { return }
    slowest = (latency, uptime)
  }

  /// Disregards the pushes that are in flight now: the lane's credential was replaced.
  mutating func restart(at uptime: Duration) {
    answeredAt = uptime
    isSilent = false
  }

  /// How long pushes may stay without any answer: longer if the service was slow lately.
  func limit(at uptime: Duration) -> Duration {
    guard let slowest else { return answeredAt == nil ? Self.firstLimit : Self.limit }
    if uptime - slowest.at >= Self.memory { return Self.limit }
    return min(Self.longestLimit, max(Self.limit, slowest.latency * 3 / 2))
  }

  /// Whether a push that was sent at this uptime has had no answer of the lane since.
  func counts(_ sentAt: Duration) -> Bool { answeredAt.map { sentAt >= $0 } ?? true }

  /// Whether pushes may have been without an answer for longer than the limit.
  func mayBeSilent(at uptime: Duration) -> Bool {
    isSilent || answeredAt.map { uptime - $0 >= limit(at: uptime) } ?? true
  }

  /// Records when the pushes without an answer were sent; returns whether the lane must pause.
  mutating func observe(_ sentAt: [Duration], at uptime: Duration) -> Bool {
    let limit = limit(at: uptime)
    let waits = sentAt.filter(counts).map { uptime - $0 }
    isSilent = waits.contains { $0 >= limit }
    // One that was sent a moment ago proves nothing.
    return isSilent && waits.count { $0 >= limit / 2 } >= Self.least
  }
}
