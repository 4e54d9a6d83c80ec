/// Times as people and files have them: ISO 8601 in UTC, and the local time of a zone.
///
/// It works without Foundation, whose formats take microseconds for each text, and ignore what
/// follows a time.
package enum CivilTime {
  /// The seconds since 1970 of the times that rides may have: years 1 to 9999, as in the database.
  package static let seconds: ClosedRange<Int64> = -62_135_596_800...253_370_764_800

  /// Returns a text such as `2026-11-21T08:05:00Z`.
  package static func iso(_ instant: Timestamp) -> String { text(instant, decimals: 0) }

  /// Returns a text such as `2026-11-21T08:05:00Z`, with microseconds if they are not zero.
  package static func exact(_ instant: Timestamp) -> String {
    text(instant, decimals: instant.fraction == 0 ? 0 : 6)
  }

  /// Returns a text such as `2026-11-21T08:05:00.250Z`, as log lines have it.
  package static func milliseconds(_ instant: Timestamp) -> String { text(instant, decimals: 3) }

  /// Parses ISO 8601 with a zone, with or without fractions of a second; nil for anything else, and
  /// for a time outside `seconds`.
  package static func instant(iso text: String) -> Timestamp? { instant(iso: Array(text.utf8)) }

  /// Parses the bytes of a text as `instant(iso:)` does.
  package static func instant(iso text: [UInt8]) -> Timestamp? {
    guard let time = ISOTime(text), seconds.contains(time.seconds) else { return nil }
    return Timestamp(
      microseconds: time.seconds * 1_000_000 + (time.nanoseconds + 500) / 1000)
  }

  /// Returns a text such as `2026-11-21 09:15:00 +01:00`, in the local time of a zone; nil is UTC.
  package static func local(_ instant: Timestamp, _ zone: ZoneTimes?) -> String {
    let offset = zone?.offset(at: instant) ?? 0
    let wall = Timestamp(epochSeconds: instant.epochSeconds + offset)
    return date(wall, in: .utc) + " " + time(wall, in: .utc) + ":"
      + String(LocalTime(wall, in: .utc).second % 60, width: 2) + " " + offsetText(offset)
  }

  /// Returns a text such as `09:15:00 +01:00` next to another time, and with the date if that has
  /// another one.
  package static func clock(
    _ instant: Timestamp, _ zone: ZoneTimes?, nextTo other: Timestamp
  ) -> String {
    let text = local(instant, zone)
    let date = local(other, zone).prefix { $0 != " " }
    return text.hasPrefix(date + " ") ? String(text.dropFirst(date.count + 1)) : text
  }

  /// Returns a text such as `08:05`, in a zone.
  package static func time(_ instant: Timestamp, in zone: ZoneTimes) -> String {
    let minute = LocalTime(instant, in: zone).minute
    return String(minute / 60, width: 2) + ":" + String(minute % 60, width: 2)
  }

  /// Returns a text such as `2026-11-21`, in a zone.
  package static func date(_ instant: Timestamp, in zone: ZoneTimes) -> String {
    let date = CivilDate(day: LocalTime(instant, in: zone).day)
    return String(date.year, width: 4) + "-" + String(date.month, width: 2) + "-"
      + String(date.day, width: 2)
  }

  /// Returns a text such as `+01:00`.
  package static func offsetText(_ offset: Int64) -> String {
    let minutes = abs(offset) / 60
    return (offset < 0 ? "-" : "+") + String(minutes / 60, width: 2) + ":"
      + String(minutes % 60, width: 2)
  }

  private static func text(_ instant: Timestamp, decimals: Int) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(28)
    let local = LocalTime(instant, in: .utc)
    let date = CivilDate(day: local.day)
    text.append(date.year, width: 4)
    for (mark, number) in [
      ("-", date.month), ("-", date.day), ("T", local.second / 3600), (":", local.second / 60 % 60),
      (":", local.second % 60),
    ] as [(Unicode.Scalar, Int64)] {
      text.append(UInt8(ascii: mark))
      text.append(number, width: 2)
    }
    if decimals > 0 {
      text.append(UInt8(ascii: "."))
      text.append(decimals == 3 ? instant.fraction / 1000 : instant.fraction, width: decimals)
    }
    text.append(UInt8(ascii: "Z"))
    return String(decoding: text, as: UTF8.self)
  }
}

/// What a wall clock and a calendar in some zone show.
package struct LocalTime {
  /// Days since 1970.
  package let day: Int64
  /// Seconds after midnight.
  package let second: Int64

  package init(_ instant: Timestamp, in zone: ZoneTimes) {
    let seconds = instant.epochSeconds + zone.offset(at: instant)
    day = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
    second = seconds - day * 86_400
  }

  /// Minutes after midnight.
  package var minute: Int64 { second / 60 }
}
