/// Exponential back-off with full jitter: many nodes that lost Apple at once do not come back at
/// once. The seed makes a test's waits the same every time.
struct Backoff: Sendable {
  /// The longest first wait.
  var base: Duration

  /// The longest wait at all.
  var cap: Duration

  private(set) var failures = 0
  private var random: SplitMix64

  init(base: Duration, cap: Duration, seed: UInt64) {
    self.base = base
    self.cap = cap
    random = SplitMix64(state: seed)
  }

  /// Counts one more failure; how long to wait after it.
  mutating func failed() -> Duration {
    let doublings = min(failures, 30)
    failures += 1
    let ceiling = min(cap.nanoseconds, base.nanoseconds.multipliedClamping(by: 1 << doublings))
    return .nanoseconds(Int64.random(in: 0...max(0, ceiling), using: &random))
  }

  /// All is well again.
  mutating func succeeded() { failures = 0 }
}

/// A small generator that a test can seed.
struct SplitMix64: RandomNumberGenerator, Sendable {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}

extension Int64 {
  fileprivate func multipliedClamping(by factor: Int64) -> Int64 {
    let (product, overflow) = multipliedReportingOverflow(by: factor)
    return overflow ? .max : product
  }
}
