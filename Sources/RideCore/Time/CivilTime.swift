/// Conversion between times and readable text.
package enum CivilTime {
  /// Returns a text such as `2026-11-21T08:05:00Z`.
  package static func iso(_ instant: Timestamp) -> String { FoundationFormats.iso(instant) }

  /// The seconds since 1970 of the times that rides may have: years 1 to 9999, as in the database.
  package static let seconds: ClosedRange<Int64> = -62_135_596_800...253_370_764_800

  /// Parses ISO 8601 with a zone, with or without fractions of a second; nil for anything else, and
  /// for a time outside `seconds`.
  package static func instant(iso text: String) -> Timestamp? {
    // Foundation ignores any text after the part that it parses, so the zone is checked here.
    let zone = text.utf8.drop { $0 != UInt8(ascii: "T") }.drop {
      $0 != UInt8(ascii: "Z") && $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-")
    }
    let isUTC = zone.first == UInt8(ascii: "Z")
    guard isUTC ? zone.count == 1 : (5...6).contains(zone.count) else { return nil }
    guard let since = FoundationFormats.seconds(iso: text), since >= Double(seconds.lowerBound),
      since <= Double(seconds.upperBound)
    else { return nil }
    return Timestamp(microseconds: Int64((since * 1e6).rounded()))
  }

  /// Returns a text such as `08:05`, in a zone.
  package static func time(_ instant: Timestamp, in zone: ZoneTimes) -> String {
    let minute = LocalTime(instant, in: zone).minute
    return twoDigits(minute / 60) + ":" + twoDigits(minute % 60)
  }

  /// Returns a text such as `2026-11-21`, in a zone.
  package static func date(_ instant: Timestamp, in zone: ZoneTimes) -> String {
    let (year, month, day) = CELCalendar.date(ofDay: LocalTime(instant, in: zone).day)
    return "\(year)-" + twoDigits(month) + "-" + twoDigits(day)
  }

  private static func twoDigits(_ number: Int64) -> String {
    number < 10 ? "0\(number)" : "\(number)"
  }
}

/// What a wall clock and a calendar in some zone show.
struct LocalTime {
  /// Days since 1970.
  let day: Int64
  /// Minutes after midnight.
  let minute: Int64

  init(_ instant: Timestamp, in zone: ZoneTimes) {
    let seconds = instant.epochSeconds + zone.offset(at: instant)
    day = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
    minute = (seconds - day * 86_400) / 60
  }
}
