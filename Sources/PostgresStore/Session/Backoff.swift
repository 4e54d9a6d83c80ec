/// How long to wait before connecting again: exponential with full jitter, so that the nodes of a
/// service do not come back in step.
struct Backoff: Hashable, Sendable {
  var first: Duration = .milliseconds(50)
  var longest: Duration = .seconds(5)

  /// The wait after a number of failures (from 0); `random` lies in 0 ..< 1.
  func delay(failures: Int, random: Double) -> Duration {
    // Beyond 2^20 the longest wait rules, whatever the first is.
    let steps = min(max(failures, 0), 20)
    return min(longest, first * (1 << steps)) * min(max(random, 0), 1)
  }
}
