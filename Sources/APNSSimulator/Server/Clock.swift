import Glibc

/// The wall clock, read once per request and handed down.
struct WallTime: Equatable, Sendable {
  let seconds: Int
  let microseconds: Int

  static func now() -> WallTime {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return WallTime(seconds: time.tv_sec, microseconds: time.tv_nsec / 1000)
  }

  /// Epoch seconds with six decimals, without the rounding of a binary fraction.
  var decimalSeconds: String {
    let fraction = String(microseconds)
    return "\(seconds)." + String(repeating: "0", count: 6 - fraction.count) + fraction
  }
}

/// The clock for waiting, which nobody sets.
enum MonotonicClock {
  static func milliseconds() -> Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
  }
}
