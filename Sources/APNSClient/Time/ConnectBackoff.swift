import RideCore

/// The back-off between connection attempts, with its failure count.
///
/// The seed makes the waits of a test reproducible.
struct ConnectBackoff: Sendable {
  private let backoff: Backoff
  private(set) var failures = 0
  private var random: SeededGenerator

  init(base: Duration, cap: Duration, seed: UInt64) {
    backoff = Backoff(first: base, longest: cap)
    random = SeededGenerator(seed: seed)
  }

  /// Counts one more failure and returns how long to wait after it.
  mutating func failed() -> Duration {
    defer { failures += 1 }
    return backoff.delay(failures: failures, random: Double.random(in: 0..<1, using: &random))
  }

  /// Resets the count after a success.
  mutating func succeeded() { failures = 0 }
}
