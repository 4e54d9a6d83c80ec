import Glibc

/// A point on the clock that never jumps: for deadlines and waiting, never for what Apple reads.
struct Moment: Hashable, Comparable, Sendable {
  /// Nanoseconds since the machine started.
  let nanoseconds: Int64

  static func now() -> Moment {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Moment(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  static func < (left: Moment, right: Moment) -> Bool { left.nanoseconds < right.nanoseconds }

  static func + (moment: Moment, duration: Duration) -> Moment {
    let (sum, overflow) = moment.nanoseconds.addingReportingOverflow(duration.nanoseconds)
    return Moment(nanoseconds: overflow ? .max : sum)
  }

  static func - (later: Moment, earlier: Moment) -> Duration {
    .nanoseconds(later.nanoseconds &- earlier.nanoseconds)
  }

  /// How many milliseconds `poll` should wait from now until then: more than the rest, so that it
  /// does not wake just before and turn idly.
  func pollTimeout(from now: Moment) -> Int32 {
    let left = nanoseconds - now.nanoseconds
    return left <= 0 ? 0 : Int32(clamping: left / 1_000_000 + 1)
  }
}

extension Duration {
  /// Whole nanoseconds, kept within range.
  var nanoseconds: Int64 {
    let parts = components
    let (whole, overflow) = parts.seconds.multipliedReportingOverflow(by: 1_000_000_000)
    if overflow { return parts.seconds < 0 ? .min : .max }
    let (sum, tooLarge) = whole.addingReportingOverflow(parts.attoseconds / 1_000_000_000)
    return tooLarge ? .max : sum
  }
}
