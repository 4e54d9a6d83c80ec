/// How long to wait before trying again: exponential with full jitter, so that the nodes of a
/// service do not come back in step.
package struct Backoff: Hashable, Sendable {
  /// The longest wait after the first failure.
  package var first: Duration
  /// The longest wait at all.
  package var longest: Duration

  /// Waits that double from `first` to `longest`.
  package init(first: Duration, longest: Duration) {
    self.first = first
    self.longest = longest
  }

  /// The wait after a number of earlier failures (from 0), in whole microseconds; `random` lies in
  /// 0 ..< 1.
  package func delay(failures: Int, random: Double) -> Duration {
    // Beyond 2^20 the longest wait rules, whatever the first is.
    let steps = min(max(failures, 0), 20)
    let wait = min(longest, first * (1 << steps)) * min(max(random, 0), 1)
    return .microseconds(wait.microseconds)
  }
}

/// A small generator of random numbers that gives the same row for the same seed.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// The row of one seed.
  package init(seed: UInt64) {
    state = seed
  }

  /// The next number of the row (SplitMix64).
  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
