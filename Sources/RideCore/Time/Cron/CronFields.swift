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

  /// Eight years: the parser refuses what may wait longer.
  static let longestWait: Int64 = 2_922
  /// 400 years, after which dates and days of the week repeat themselves.
  static let daysOfCalendar: Int64 = 146_097
  private static let minutesADay: Int64 = 1_440

  /// The first minute that is meant, from one up to another that is not looked at itself.
  func first(from: Int64, to: Int64) -> Int64? {
    guard to > from else { return nil }
    let end = Self.floor(to - 1, Self.minutesADay)
    var day = Self.floor(from, Self.minutesADay)
    var earliest = from - day * Self.minutesADay
    while let meant = firstDay(from: day, through: end) {
      if let found = first(in: meant > day ? 0 : earliest) {
        let minute = meant * Self.minutesADay + found
        return minute < to ? minute : nil
      }
      day = meant + 1
      earliest = 0
    }
    return nil
  }

  /// The last minute that is meant, at or before one and not before another.
  func last(upTo: Int64, from: Int64) -> Int64? {
    guard upTo >= from else { return nil }
    let start = Self.floor(from, Self.minutesADay)
    var day = Self.floor(upTo, Self.minutesADay)
    var latest = upTo - day * Self.minutesADay
    while let meant = lastDay(upTo: day, from: start) {
      if let found = last(in: meant < day ? Self.minutesADay - 1 : latest) {
        let minute = meant * Self.minutesADay + found
        return minute >= from ? minute : nil
      }
      day = meant - 1
      latest = Self.minutesADay - 1
    }
    return nil
  }

  /// The first day that is meant, from one through another; looks no further than it must, for
  /// slots come within eight years.
  func firstDay(from: Int64, through: Int64) -> Int64? {
    var day = from
    while day <= through, day - from <= Self.longestWait {
      let date = Self.date(day)
      if means(date, on: day) { return day }
      // Each month has 28 days; the jump ends on its 29th, or on the first of March.
      day += Self.has(months, date.month) ? 1 : max(1, 29 - date.day)
    }
    return nil
  }

  private func lastDay(upTo: Int64, from: Int64) -> Int64? {
    var day = upTo
    while day >= from, upTo - day <= Self.longestWait {
      let date = Self.date(day)
      if means(date, on: day) { return day }
      day -= Self.has(months, date.month) ? 1 : date.day
    }
    return nil
  }

  /// How many minutes are meant from one up to another that is not counted itself.
  func count(from: Int64, to: Int64) -> Int {
    guard to > from else { return 0 }
    // Whole periods of the calendar are alike: all of time costs no more than one of them.
    let period = Self.daysOfCalendar * Self.minutesADay
    let periods = (to - from) / period
    let whole = periods > 0 ? countByDay(from: from, to: from + period) : 0
    return Int(periods) * whole + countByDay(from: from + periods * period, to: to)
  }

  private func countByDay(from: Int64, to: Int64) -> Int {
    guard to > from else { return 0 }
    var sum = 0
    let days = Self.floor(from, Self.minutesADay)...Self.floor(to - 1, Self.minutesADay)
    for day in days where means(Self.date(day), on: day) {
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

  /// Whether a day since 1970, which is this date, is meant.
  private func means(_ date: (month: Int64, day: Int64), on day: Int64) -> Bool {
    guard Self.has(months, date.month) else { return false }
    let isDayOfMonth = Self.has(daysOfMonth, date.day)
    // 1970 began on a Thursday.
    let isDayOfWeek = Self.has(daysOfWeek, day + 4 - Self.floor(day + 4, 7) * 7)
    if anyDayOfMonth || anyDayOfWeek { return isDayOfMonth && isDayOfWeek }
    return isDayOfMonth || isDayOfWeek
  }

  /// Month and day of the month; the 400 years of the calendar are counted from 1 March here so
  /// that the leap day is a year's last.
  private static func date(_ day: Int64) -> (month: Int64, day: Int64) {
    let sinceMarch = day + 719_468
    let era = floor(sinceMarch, daysOfCalendar)
    let dayOfEra = sinceMarch - era * daysOfCalendar
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
