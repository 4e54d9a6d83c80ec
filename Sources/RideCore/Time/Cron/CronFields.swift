/// The five fields of a cron expression, as sets of numbers in bits: which wall minutes are meant.
///
/// Wall time is counted in whole minutes since 1970 on a clock without a zone. Days are counted by
/// the Gregorian rules written out here: Foundation's Calendar takes microseconds for one of them,
/// and a schedule asks for thousands.
struct CronFields: Hashable, Sendable {
  var minutes: UInt64
  var hours: UInt64
  var daysOfMonth: UInt64
  var months: UInt64
  var daysOfWeek: UInt64
  /// The field begins with `*`: it does not restrict the day by itself.
  var anyDayOfMonth: Bool
  var anyDayOfWeek: Bool
  /// The field begins with `*`: the schedule follows the wall through changes of the offset.
  var anyHour: Bool

  private static let minutesADay: Int64 = 1440

  /// The first minute that is meant, at or after one; nil where ten years hold none.
  func first(from minute: Int64) -> Int64? {
    var day = Self.floor(minute, Self.minutesADay)
    var earliest = minute - day * Self.minutesADay
    for _ in 0..<3_700 {
      if means(day: day), let found = first(in: earliest) {
        return day * Self.minutesADay + found
      }
      day += 1
      earliest = 0
    }
    return nil
  }

  /// The last minute that is meant, at or before one; nil where ten years hold none.
  func last(upTo minute: Int64) -> Int64? {
    var day = Self.floor(minute, Self.minutesADay)
    var latest = minute - day * Self.minutesADay
    for _ in 0..<3_700 {
      if means(day: day), let found = last(in: latest) {
        return day * Self.minutesADay + found
      }
      day -= 1
      latest = Self.minutesADay - 1
    }
    return nil
  }

  /// How many minutes are meant from one up to another that is not counted itself.
  func count(from: Int64, to: Int64) -> Int {
    guard to > from else { return 0 }
    var sum = 0
    let days = Self.floor(from, Self.minutesADay)...Self.floor(to - 1, Self.minutesADay)
    for day in days where means(day: day) {
      let start = day * Self.minutesADay
      sum += count(below: min(to - start, Self.minutesADay)) - count(below: max(from - start, 0))
    }
    return sum
  }

  /// How many minutes of a day that is meant lie before one of its minutes.
  private func count(below minute: Int64) -> Int {
    let (hour, rest) = (minute / 60, minute % 60)
    let whole = (hours & Self.below(hour)).nonzeroBitCount * minutes.nonzeroBitCount
    return whole + (Self.has(hours, hour) ? (minutes & Self.below(rest)).nonzeroBitCount : 0)
  }

  private func first(in minute: Int64) -> Int64? {
    let hour = minute / 60
    if Self.has(hours, hour) {
      let left = minutes & ~Self.below(minute % 60)
      if left != 0 { return hour * 60 + Int64(left.trailingZeroBitCount) }
    }
    let left = hours & ~Self.below(hour + 1)
    if left == 0 { return nil }
    return Int64(left.trailingZeroBitCount) * 60 + Int64(minutes.trailingZeroBitCount)
  }

  private func last(in minute: Int64) -> Int64? {
    let hour = minute / 60
    if Self.has(hours, hour) {
      let left = minutes & Self.below(minute % 60 + 1)
      if left != 0 { return hour * 60 + Self.highest(left) }
    }
    let left = hours & Self.below(hour)
    if left == 0 { return nil }
    return Self.highest(left) * 60 + Self.highest(minutes)
  }

  /// Whether a day since 1970 is meant.
  func means(day: Int64) -> Bool {
    let date = Self.date(day)
    guard Self.has(months, date.month) else { return false }
    let isDayOfMonth = Self.has(daysOfMonth, date.day)
    // 1970 began on a Thursday.
    let isDayOfWeek = Self.has(daysOfWeek, day + 4 - Self.floor(day + 4, 7) * 7)
    if anyDayOfMonth || anyDayOfWeek { return isDayOfMonth && isDayOfWeek }
    return isDayOfMonth || isDayOfWeek
  }

  /// Month and day of the month; the calendar repeats itself every 400 years, which are counted
  /// from 1 March here so that the leap day is a year's last.
  private static func date(_ day: Int64) -> (month: Int64, day: Int64) {
    let sinceMarch = day + 719_468
    let era = floor(sinceMarch, 146_097)
    let dayOfEra = sinceMarch - era * 146_097
    let year = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * year + year / 4 - year / 100)
    let month = (5 * dayOfYear + 2) / 153
    return (month < 10 ? month + 3 : month - 9, dayOfYear - (153 * month + 2) / 5 + 1)
  }

  static func floor(_ number: Int64, _ divisor: Int64) -> Int64 {
    let quotient = number / divisor
    return number % divisor < 0 ? quotient - 1 : quotient
  }

  private static func has(_ bits: UInt64, _ bit: Int64) -> Bool { bits >> UInt64(bit) & 1 == 1 }

  private static func below(_ bit: Int64) -> UInt64 { bit >= 64 ? .max : 1 << UInt64(bit) - 1 }

  private static func highest(_ bits: UInt64) -> Int64 { Int64(63 - bits.leadingZeroBitCount) }
}
