import Synchronization
package import Foundation

/// Conversion between times and readable text; Foundation provides the calendar and the time zones.
package enum CivilTime {
  /// Returns a text such as `2026-11-21T08:05:00Z`.
  package static func iso(_ instant: Timestamp) -> String {
    instant.date.formatted(.iso8601)
  }

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
    let date =
      (try? Date(text, strategy: .iso8601))
      ?? (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
    guard let since = date?.timeIntervalSince1970, since >= Double(seconds.lowerBound),
      since <= Double(seconds.upperBound)
    else { return nil }
    return Timestamp(microseconds: Int64((since * 1e6).rounded()))
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

/// The UTC offsets of one zone of the tz database, as a table: a schedule needs them thousands of
/// times, and Foundation takes microseconds for each.
///
/// The table covers 1970 to 2100; before and after that, the first and the last offset apply.
package struct ZoneTimes: Hashable, Sendable {
  /// The zone's name as requested.
  package let identifier: String

  /// When each offset begins, in seconds since 1970; the first one has no beginning.
  private let starts: [Int64]
  private let offsets: [Int64]

  /// A period without a change of the offset.
  struct Stretch {
    /// Its index in the table.
    let index: Int
    /// Its first second; `Int64.min` for the first stretch.
    let start: Int64
    /// The first second after it; `Int64.max` for the last stretch.
    let end: Int64
    /// The number of seconds that local time is ahead of UTC.
    let offset: Int64
    /// The offset of the previous stretch.
    let before: Int64
  }

  private static let known = Mutex<[String: ZoneTimes]>([:])

  /// Nil if Foundation has no zone with this name.
  package init?(identifier: String) {
    if let known = Self.known.withLock({ $0[identifier] }) {
      self = known
      return
    }
    guard let zone = TimeZone(identifier: identifier) else { return nil }
    self.init(identifier, zone)
    let table = self
    Self.known.withLock { $0[identifier] = table }
  }

  private init(_ identifier: String, _ zone: TimeZone) {
    self.identifier = identifier
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
    self.starts = starts
    self.offsets = offsets
  }

  /// Returns the number of seconds that local time is ahead of UTC.
  package func offset(at instant: Timestamp) -> Int64 {
    offsets[index(at: instant.epochSeconds)]
  }

  /// Returns the changes of the offset after `after` and up to `through`: their time, the old
  /// offset and the new one.
  package func changes(
    after: Timestamp, through: Timestamp
  ) -> [(at: Timestamp, from: Int64, to: Int64)] {
    starts.indices.dropFirst().compactMap { index in
      let at = Timestamp(epochSeconds: starts[index])
      guard at > after, at <= through else { return nil }
      return (at, offsets[index - 1], offsets[index])
    }
  }

  /// Returns the stretch that contains a second.
  func stretch(at second: Int64) -> Stretch {
    stretch(index(at: second))
  }

  /// Returns the stretch before or after another one; nil beyond the ends of the table.
  func stretch(beside stretch: Stretch, by step: Int) -> Stretch? {
    let index = stretch.index + step
    return starts.indices.contains(index) ? self.stretch(index) : nil
  }

  private func stretch(_ index: Int) -> Stretch {
    Stretch(
      index: index, start: starts[index],
      end: index + 1 < starts.count ? starts[index + 1] : .max,
      offset: offsets[index], before: offsets[max(0, index - 1)])
  }

  /// Compares the names.
  package static func == (left: ZoneTimes, right: ZoneTimes) -> Bool {
    left.identifier == right.identifier
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(identifier) }

  private func index(at second: Int64) -> Int {
    var low = 0
    var high = starts.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= second { low = middle } else { high = middle }
    }
    return low
  }
}
