package import Foundation

/// The only way to Foundation's time zones: CoreFoundation ends the process if it is given some names
/// that Foundation takes, such as `ACT`.
package enum FoundationZones {
  /// The offsets of a zone from 1970 to 2100: when each begins, in seconds since 1970, and how many
  /// seconds local time is ahead of UTC; nil for a name that is not in the tz database.
  static func offsets(of name: String) -> (starts: [Int64], offsets: [Int64])? {
    guard ZoneName.isValid(name), let zone = TimeZone(identifier: name) else { return nil }
    var date = Date(timeIntervalSince1970: 0)
    var starts = [Int64.min]
    var offsets = [Int64(zone.secondsFromGMT(for: date))]
    let end = Date(timeIntervalSince1970: 4_102_444_800)
    while let next = zone.nextDaylightSavingTimeTransition(after: date), next > date, next < end {
      let offset = Int64(zone.secondsFromGMT(for: next))
      if offset != offsets.last {
        starts.append(Int64(next.timeIntervalSince1970.rounded()))
        offsets.append(offset)
      }
      date = next
    }
    return (starts, offsets)
  }

  /// Names of zones, for suggestions.
  package static var names: [String] { TimeZone.knownTimeZoneIdentifiers }
}

extension Timestamp {
  /// The same time for Foundation; for a few centuries it is exact to within one microsecond.
  package var date: Date {
    Date(timeIntervalSince1970: Double(microseconds) / 1_000_000)
  }
}
