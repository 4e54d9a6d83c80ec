import RideCore

/// The back-off between attempts to connect, with its count. The seed makes a test's waits the
/// same every time.
struct ConnectBackoff: Sendable {
  private let backoff: Backoff
  private(set) var failures = 0
  private var random: SeededGenerator

  init(base: Duration, cap: Duration, seed: UInt64) {
    backoff = Backoff(first: base, longest: cap)
    random = SeededGenerator(seed: seed)
  }

  /// Counts one more failure; how long to wait after it.
  mutating func failed() -> Duration {
    defer { failures += 1 }
    return backoff.delay(failures: failures, random: Double.random(in: 0..<1, using: &random))
  }

  /// All is well again.
  mutating func succeeded() { failures = 0 }
}
