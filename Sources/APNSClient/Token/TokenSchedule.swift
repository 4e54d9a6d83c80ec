import RideCore

/// When provider tokens turn over.
///
/// Apple accepts a token for an hour, and no two within 20 minutes on one connection. All nodes of
/// a service floor `iat` to the same windows, so that they all present tokens of the same age.
struct TokenSchedule: Sendable {
  /// What a connection does about the token that it uses.
  enum Verdict: Hashable { case keep, adopt, recycle }

  static let window: Int64 = 30 * 60
  static let shortestUse: Duration = .seconds(20 * 60)
  static let oldest: Int64 = 55 * 60

  /// A token that lies this far ahead was signed by a clock that has since been set back.
  static let toleratedLead: Int64 = 60

  /// The token that replaced the one of a window after APNs had called that one expired.
  private var reissued: (window: Int64, issuedAt: Int64)?

  /// The `iat` of tokens that are handed out now.
  func issuedAt(at now: Timestamp) -> Int64 {
    let start = Self.windowStart(at: now)
    guard let reissued, reissued.window == start else { return start }
    return reissued.issuedAt
  }

  /// APNs called a token expired. A window's token is replaced once, by one of this very second;
  /// what else could help, if the clock is wrong, is not in our hands.
  mutating func expired(issuedAt: Int64, at now: Timestamp) {
    let start = Self.windowStart(at: now)
    guard issuedAt == start, reissued?.window != start else { return }
    reissued = (window: start, issuedAt: now.epochSeconds)
  }

  /// What a connection does that has used a token for so long.
  func verdict(issuedAt: Int64, usedFor: Duration, at now: Timestamp) -> Verdict {
    let age = now.epochSeconds - issuedAt
    let mustChange = age > Self.oldest || age < -Self.toleratedLead
    if usedFor >= Self.shortestUse {
      return mustChange || self.issuedAt(at: now) > issuedAt ? .adopt : .keep
    }
    // A second token so soon would be refused on this connection, and the first one too.
    return mustChange ? .recycle : .keep
  }

  private static func windowStart(at now: Timestamp) -> Int64 {
    let seconds = now.epochSeconds
    let rest = seconds % window
    return seconds - (rest < 0 ? rest + window : rest)
  }
}
