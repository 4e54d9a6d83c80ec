package import Foundation

/// Conversion between times and readable text; Foundation provides the calendar and the time zones.
package enum CivilTime {
  /// Returns a text such as `2026-11-21T08:05:00Z`.
  package static func iso(_ instant: Timestamp) -> String {
    instant.date.formatted(.iso8601)
  }

  /// Parses ISO 8601 with a zone, with or without fractions of a second; nil for anything else.
  package static func instant(iso text: String) -> Timestamp? {
    // Foundation ignores any text after the part that it parses, so the zone is checked here.
    let zone = text.utf8.drop { $0 != UInt8(ascii: "T") }.drop {
      $0 != UInt8(ascii: "Z") && $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-")
    }
    let isUTC = zone.first == UInt8(ascii: "Z")
    guard isUTC ? zone.count == 1 : (5...6).contains(zone.count) else { return nil }
    let date =
      (try? Date(text, strategy: .iso8601))
      ?? (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    return date.map { Timestamp(microseconds: Int64(($0.timeIntervalSince1970 * 1e6).rounded())) }
  }

  /// Returns a text such as `08:05`, in a zone.
  package static func time(_ instant: Timestamp, in zone: TimeZone) -> String {
    let parts = components(instant, in: zone)
    return twoDigits(parts.hour) + ":" + twoDigits(parts.minute)
  }

  /// Returns a text such as `2026-11-21`, in a zone.
  package static func date(_ instant: Timestamp, in zone: TimeZone) -> String {
    let parts = components(instant, in: zone)
    return "\(parts.year ?? 0)-" + twoDigits(parts.month) + "-" + twoDigits(parts.day)
  }

  private static func components(_ instant: Timestamp, in zone: TimeZone) -> DateComponents {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = zone
    return calendar.dateComponents([.year, .month, .day, .hour, .minute], from: instant.date)
  }

  private static func twoDigits(_ number: Int?) -> String {
    let number = number ?? 0
    return number < 10 ? "0\(number)" : "\(number)"
  }
}

extension Timestamp {
  /// The same time for Foundation; for a few centuries it is exact to within one microsecond.
  package var date: Date {
    Date(timeIntervalSince1970: Double(microseconds) / 1_000_000)
  }
}
