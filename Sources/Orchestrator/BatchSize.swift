/// The number of rides per statement: halved after each timeout, doubled after a streak of
/// successes.
struct BatchSize: Equatable {
  /// The size without timeouts.
  let maximum: Int
  /// The current size.
  private(set) var size: Int
  private var worked = 0

  /// How many full batches must succeed before the size is doubled.
  static let streak = 8

  init(maximum: Int) {
    self.maximum = max(1, maximum)
    size = self.maximum
  }

  /// Records that a batch of this many rides timed out.
  mutating func timedOut(_ count: Int) {
    size = max(1, min(size, count) / 2)
    worked = 0
  }

  /// Records that a batch of this many rides succeeded; a batch smaller than `size` does not count.
  mutating func worked(_ count: Int) {
    guard size < maximum, count >= size else { return }
    worked += 1
    if worked < Self.streak { return }
    size = min(maximum, size * 2)
    worked = 0
  }
}
