import Base

/// Counts durations within fixed bounds, as a Prometheus histogram has them.
package struct DurationHistogram: Hashable, Sendable {
  /// The bounds of `counts`, in seconds.
  package static let bounds: [Double] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
  ]

  /// The number of durations within each of `bounds`, not cumulative, and last those beyond all
  /// bounds.
  package private(set) var counts = Array(repeating: 0, count: bounds.count + 1)
  /// The sum of all durations, in seconds.
  package private(set) var seconds = 0.0

  package init() {}

  package mutating func add(_ duration: Duration) {
    let seconds = max(0, duration.inSeconds)
    counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
    self.seconds += seconds
  }
}
