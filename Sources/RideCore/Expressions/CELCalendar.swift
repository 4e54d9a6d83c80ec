/// The date and the time of day of an instant, in the Gregorian calendar.
struct CELCalendar {
  let year: Int64
  /// From 1.
  let month: Int64
  /// From 1.
  let day: Int64
  /// The second of the day.
  let second: Int64
  /// Days since 1970-01-01.
  private let days: Int64

  /// - Parameter offset: seconds that local time is ahead of UTC.
  init(_ instant: CELInstant, offset: Int64) {
    let local = instant.seconds + offset
    var days = local / 86_400
    var second = local % 86_400
    if second < 0 {
      second += 86_400
      days -= 1
    }
    self.days = days
    self.second = second
    (year, month, day) = Self.date(ofDay: days)
  }

  /// Returns the date of a day since 1970-01-01.
  static func date(ofDay days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    // Counted from March of year 0, so that a leap day is the last day of a year; 400 years repeat.
    let since = days + 719_468
    let era = (since >= 0 ? since : since - 146_096) / 146_097
    let dayOfEra = since - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shifted + 2) / 5 + 1)
  }

  /// From 0, which is Sunday.
  var weekday: Int64 { ((days + 4) % 7 + 7) % 7 }

  /// Returns the days from 1970-01-01 to a date.
  static func days(toYear year: Int64, month: Int64, day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  static func days(inMonth month: Int64, of year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Returns a part of a time or of a duration: an accessor such as `getHours`.
  static func part(
    _ function: CELFunction, _ arguments: [CELValue]
  ) throws(CELFault) -> Int64 {
    switch (arguments[0], arguments.count) {
    case (.duration(let nanoseconds), 1):
      switch function {
      case .getHours: return nanoseconds / 3_600_000_000_000
      case .getMinutes: return nanoseconds / 60_000_000_000
      case .getSeconds: return nanoseconds / 1_000_000_000
      case .getMilliseconds: return nanoseconds / 1_000_000 % 1000
      default: break
      }
    case (.timestamp(let instant), 1): return part(function, instant, offset: 0)
    case (.timestamp(let instant), 2):
      guard case .string(let zone) = arguments[1] else { break }
      return part(function, instant, offset: try offset(of: zone, at: instant))
    default: break
    }
    throw .noOverload(function.rawValue, arguments.map(\.typeName))
  }

  private static func part(
    _ function: CELFunction, _ instant: CELInstant, offset: Int64
  ) -> Int64 {
    let date = CELCalendar(instant, offset: offset)
    return switch function {
    case .getFullYear: date.year
    case .getMonth: date.month - 1
    case .getDate: date.day
    case .getDayOfMonth: date.day - 1
    case .getDayOfWeek: date.weekday
    case .getDayOfYear: date.days - days(toYear: date.year, month: 1, day: 1)
    case .getHours: date.second / 3600
    case .getMinutes: date.second / 60 % 60
    case .getSeconds: date.second % 60
    default: instant.nanoseconds / 1_000_000
    }
  }

  /// Returns how many seconds a zone is ahead of UTC: a name of the tz database, or `+02:00`.
  private static func offset(
    of zone: String, at instant: CELInstant
  ) throws(CELFault) -> Int64 {
    var digits = CELDigits(zone)
    if let offset = digits.offset(needsSign: false), digits.isAtEnd { return offset }
    guard zone.utf8.count <= 64, let times = ZoneTimes(identifier: zone) else {
      throw .unknownZone(zone)
    }
    return times.offset(at: Timestamp(epochSeconds: instant.seconds))
  }
}
