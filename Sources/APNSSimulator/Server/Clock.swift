import Glibc

/// The wall clock, read once per request and passed on.
struct WallTime: Equatable, Sendable {
  let seconds: Int
  let microseconds: Int

  static func now() -> WallTime {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return WallTime(seconds: time.tv_sec, microseconds: time.tv_nsec / 1000)
  }

  /// The HTTP form of the date: `Sat, 21 Nov 2026 08:05:00 GMT`.
  var httpDate: String {
    var seconds = seconds
    var parts = unsafe tm()
    unsafe gmtime_r(&seconds, &parts)
    let (weekday, day, month) = unsafe (Int(parts.tm_wday), parts.tm_mday, Int(parts.tm_mon))
    let (year, hour) = unsafe (parts.tm_year + 1900, parts.tm_hour)
    let (minute, second) = unsafe (parts.tm_min, parts.tm_sec)
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(days[weekday]), \(two(day)) \(months[month]) \(year) "
      + "\(two(hour)):\(two(minute)):\(two(second)) GMT"
  }

  /// Epoch seconds with six decimals, without the rounding of a binary fraction.
  var decimalSeconds: String {
    let fraction = String(microseconds)
    return "\(seconds)." + String(repeating: "0", count: 6 - fraction.count) + fraction
  }
}

/// The clock for waiting, which is never set.
enum MonotonicClock {
  static func milliseconds() -> Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
  }
}
