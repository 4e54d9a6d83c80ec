/// The five fields of a cron expression as bit sets, which determine the matching wall minutes.
///
/// Wall time is counted in whole minutes since 1970 on a clock without a zone. The Gregorian rules
/// are implemented here, because Foundation's Calendar takes microseconds for one day and a
/// schedule needs thousands of them.
struct CronFields: Hashable, Sendable {
  var minutes: UInt64
  var hours: UInt64
  var daysOfMonth: UInt64
  var months: UInt64
  var daysOfWeek: UInt64
  /// Whether the field begins with `*`, so that it does not restrict the day on its own.
  var anyDayOfMonth: Bool
  var anyDayOfWeek: Bool
  /// Whether the field begins with `*`, so that the schedule follows the wall clock through changes
  /// of the offset.
  var anyHour: Bool

  /// Eight years in days: the parser refuses expressions that may have to wait longer.
  static let longestWait: Int64 = 2_922
  /// 400 years in days, after which dates and days of the week repeat.
  static let daysOfCalendar: Int64 = 146_097
  private static let minutesADay: Int64 = 1_440

  /// Returns the first matching minute in `from ..< to`.
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

  /// Returns the last matching minute in `from ... upTo`.
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

  /// Returns the first matching day in `from ... through`; searches at most eight years, because
  /// slots occur within eight years.
  func firstDay(from: Int64, through: Int64) -> Int64? {
    var day = from
    while day <= through, day - from <= Self.longestWait {
      let date = Self.date(day)
      if means(date, on: day) { return day }
      // Every month has 28 days, so the jump lands on its 29th, or on the first of March.
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

  /// Returns the number of matching minutes in `from ..< to`.
  func count(from: Int64, to: Int64) -> Int {
    guard to > from else { return 0 }
    // All whole periods of the calendar are alike, so even the whole range of time costs little
    // more than one period.
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

  /// Returns the number of matching minutes of a matching day that are before `minute` of that day.
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

  /// Returns whether a day matches, given its date and its number since 1970.
  private func means(_ date: (month: Int64, day: Int64), on day: Int64) -> Bool {
    guard Self.has(months, date.month) else { return false }
    let isDayOfMonth = Self.has(daysOfMonth, date.day)
    // 1970 began on a Thursday.
    let isDayOfWeek = Self.has(daysOfWeek, day + 4 - Self.floor(day + 4, 7) * 7)
    if anyDayOfMonth || anyDayOfWeek { return isDayOfMonth && isDayOfWeek }
    return isDayOfMonth || isDayOfWeek
  }

  /// Returns month and day of the month.
  ///
  /// The 400-year cycles are counted from 1 March, so that the leap day is the last day of a year.
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
