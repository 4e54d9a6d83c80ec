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

/// A small random number generator that returns the same sequence for the same seed.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) {
    state = seed
  }

  /// Returns the next number of the sequence (SplitMix64).
  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
