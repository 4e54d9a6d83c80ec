import Base
import RideCore

/// Decides when provider tokens turn over.
///
/// Apple accepts a token for an hour, and refuses a second one within 20 minutes on one connection.
/// All nodes of a service floor `iat` to the same windows, so that they all present tokens of the
/// same age.
struct TokenSchedule: Sendable {
  /// What a connection does with the token in use: keep it, adopt a new one, or be replaced.
  enum TokenAction: Hashable { case keep, adopt, recycle }

  static let window: Int64 = 30 * 60
  static let shortestUse: Duration = .seconds(20 * 60)
  static let oldest: Int64 = 55 * 60

  /// A token further ahead than this (in seconds) was signed by a clock that has since been set
  /// back.
  static let toleratedLead: Int64 = 60

  /// The token that replaced a window's token after APNs had reported that one as expired.
  private var reissued: (window: Int64, issuedAt: Int64)?

  /// Returns the `iat` of tokens that are handed out now.
  func issuedAt(at now: Timestamp) -> Int64 {
    let start = Self.windowStart(at: now)
    guard let reissued, reissued.window == start else { return start }
    return reissued.issuedAt
  }

  /// Records that APNs reported a token as expired.
  ///
  /// A window's token is replaced once, by one issued in the current second, but not in that of the
  /// window's: it would be the same token again. If the clock is wrong, the client can do nothing
  /// more.
  mutating func expired(issuedAt: Int64, at now: Timestamp) {
    let start = Self.windowStart(at: now)
    guard issuedAt == start, reissued?.window != start else { return }
    reissued = (window: start, issuedAt: max(now.epochSeconds, start + 1))
  }

  /// Returns what a connection must do that has used a token for `usedFor`.
  func verdict(issuedAt: Int64, usedFor: Duration, at now: Timestamp) -> TokenAction {
    let age = now.epochSeconds - issuedAt
    let mustChange = age > Self.oldest || age < -Self.toleratedLead
    if usedFor >= Self.shortestUse {
      return mustChange || self.issuedAt(at: now) > issuedAt ? .adopt : .keep
    }
    // APNs would refuse a second token this soon on one connection, and then the first one too.
    return mustChange ? .recycle : .keep
  }

  private static func windowStart(at now: Timestamp) -> Int64 {
    let seconds = now.epochSeconds
    let rest = seconds % window
    return seconds - (rest < 0 ? rest + window : rest)
  }
}
