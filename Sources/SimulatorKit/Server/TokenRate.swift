/// How many pushes a device token may receive: `pushes` at once, and as many again in `seconds`.
package struct TokenRate: Equatable, Sendable {
  package let pushes: Int
  package let seconds: Int

  private static let largest = 1_000_000

  /// Parses `PUSHES/SECONDS`.
  package init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
    guard parts.count == 2, parts.allSatisfy((1...Self.largest).contains) else { return nil }
    (pushes, seconds) = (parts[0], parts[1])
  }
}

/// The pushes that device tokens received lately; a bucket for each, which refills steadily.
package struct TokenRateLimiter {
  private let intervalMicroseconds: Int
  private let windowMicroseconds: Int
  /// When each token's bucket will be full again; one without an entry is full.
  private var fullAt: [String: Int] = [:]
  private var countAtLastPurge = 0

  package init(_ rate: TokenRate) {
    windowMicroseconds = rate.seconds * 1_000_000
    intervalMicroseconds = windowMicroseconds / rate.pushes
  }

  /// Returns whether one more push would exceed the rate.
  package func isExceeded(by token: String, at now: Int) -> Bool {
    next(token, now) - now > windowMicroseconds
  }

  package mutating func count(_ token: String, at now: Int) {
    fullAt[token] = next(token, now)
    // A long run meets many tokens once.
    guard fullAt.count > 2 * countAtLastPurge + 1_000 else { return }
    fullAt = fullAt.filter { $0.value > now }
    countAtLastPurge = fullAt.count
  }

  private func next(_ token: String, _ now: Int) -> Int {
    max(fullAt[token] ?? now, now) + intervalMicroseconds
  }
}
