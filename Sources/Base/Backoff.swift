/// The wait before a retry: exponential with full jitter, so that the nodes of a service do not
/// retry at the same time.
package struct Backoff: Hashable, Sendable {
  /// The longest wait after the first failure.
  package var first: Duration
  /// The longest wait after any number of failures.
  package var longest: Duration

  /// Creates a backoff whose longest wait doubles from `first` to `longest`.
  package init(first: Duration, longest: Duration) {
    self.first = first
    self.longest = longest
  }

  /// Returns the wait after a number of earlier failures (from 0), in whole microseconds; `random`
  /// is in 0 ..< 1.
  package func delay(failures: Int, random: Double) -> Duration {
    // Doubling stops after 20 steps: 2^20 times any realistic `first` exceeds `longest`.
    let steps = min(max(failures, 0), 20)
    let wait = min(longest, first * (1 << steps)) * min(max(random, 0), 1)
    return .microseconds(wait.microseconds)
  }
}
