import Base

/// The date and the time of day of an instant, in the Gregorian calendar.
struct CELCalendar {
  let date: CivilDate
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
    date = CivilDate(day: days)
  }

  /// From 0, which is Sunday.
  var weekday: Int64 { ((days + 4) % 7 + 7) % 7 }

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
    let calendar = CELCalendar(instant, offset: offset)
    let date = calendar.date
    return switch function {
    case .getFullYear: date.year
    case .getMonth: date.month - 1
    case .getDate: date.day
    case .getDayOfMonth: date.day - 1
    case .getDayOfWeek: calendar.weekday
    case .getDayOfYear: calendar.days - CivilDate.days(toYear: date.year, month: 1, day: 1)
    case .getHours: calendar.second / 3600
    case .getMinutes: calendar.second / 60 % 60
    case .getSeconds: calendar.second % 60
    default: instant.nanoseconds / 1_000_000
    }
  }

  /// Returns how many seconds a zone is ahead of UTC: a name of the tz database, or `+02:00`.
  private static func offset(
    of zone: String, at instant: CELInstant
  ) throws(CELFault) -> Int64 {
    var digits = DigitReader(Array(zone.utf8))
    if let offset = digits.offset(needsSign: false), digits.isAtEnd { return offset }
    guard zone.utf8.count <= 64, let times = ZoneTimes(identifier: zone) else {
      throw .unknownZone(zone)
    }
    return times.offset(at: Timestamp(epochSeconds: instant.seconds))
  }
}
