import Glibc

/// A point on a clock that never jumps, for deadlines and waits; never for times that Apple reads.
struct MonotonicTime: Hashable, Comparable, Sendable {
  /// Nanoseconds since the machine started.
  let nanoseconds: Int64

  /// A point later than any other.
  static let never = MonotonicTime(nanoseconds: .max)

  static func now() -> MonotonicTime {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
    left.nanoseconds < right.nanoseconds
  }

  static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
    let (sum, overflow) = time.nanoseconds.addingReportingOverflow(duration.nanoseconds)
    return MonotonicTime(nanoseconds: overflow ? .max : sum)
  }

  static func - (later: MonotonicTime, earlier: MonotonicTime) -> Duration {
    .nanoseconds(later.nanoseconds &- earlier.nanoseconds)
  }

  /// Returns how many milliseconds `poll` should wait from `now` until this time.
  ///
  /// The remainder is rounded up, so that `poll` does not wake just before it and loop in vain.
  func pollTimeout(from now: MonotonicTime) -> Int32 {
    let left = nanoseconds - now.nanoseconds
    return left <= 0 ? 0 : Int32(clamping: left / 1_000_000 + 1)
  }
}

extension Duration {
  /// Whole nanoseconds, clamped to the range of `Int64`.
  var nanoseconds: Int64 {
    let parts = components
    let (whole, overflow) = parts.seconds.multipliedReportingOverflow(by: 1_000_000_000)
    if overflow { return parts.seconds < 0 ? .min : .max }
    let (sum, tooLarge) = whole.addingReportingOverflow(parts.attoseconds / 1_000_000_000)
    return tooLarge ? .max : sum
  }
}
