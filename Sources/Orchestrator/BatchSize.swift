/// How many rides one statement may take: halved by each timeout, doubled after some that worked.
struct BatchSize: Equatable {
  /// The size without any timeout.
  let maximum: Int
  /// The size now.
  private(set) var size: Int
  private var worked = 0

  /// How many batches of full size must work before the next larger one is tried.
  static let streak = 8

  init(maximum: Int) {
    self.maximum = max(1, maximum)
    size = self.maximum
  }

  /// A batch of this many rides ran out of time.
  mutating func timedOut(_ count: Int) {
    size = max(1, min(size, count) / 2)
    worked = 0
  }

  /// A batch of this many rides worked; a smaller one than allowed proves nothing.
  mutating func worked(_ count: Int) {
    guard size < maximum, count >= size else { return }
    worked += 1
    if worked < Self.streak { return }
    size = min(maximum, size * 2)
    worked = 0
  }
}
