import Foundation
import Synchronization

/// The UTC offsets of one zone of the tz database, as a table: what a schedule asks thousands of
/// times, and what Foundation takes microseconds to say.
///
/// The table reaches from 1970 to 2100; before and after, its first and last offsets hold.
package struct ZoneTimes: Hashable, Sendable {
  /// The zone's name, as it was asked for.
  package let identifier: String

  /// When each offset begins, in seconds since 1970; the first one always has.
  private let starts: [Int64]
  private let offsets: [Int64]

  /// A stretch of time without a change of the offset.
  struct Stretch {
    /// Its place in the table.
    let index: Int
    /// The first second of it; `Int64.min` for the first one.
    let start: Int64
    /// The first second after it; `Int64.max` for the last one.
    let end: Int64
    /// Local time is UTC and this many seconds.
    let offset: Int64
    /// The offset before it.
    let before: Int64
  }

  private static let known = Mutex<[String: ZoneTimes]>([:])

  /// The zone of this name; nil where Foundation knows none.
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

  /// Seconds that local time is ahead of UTC.
  package func offset(at instant: Timestamp) -> Int64 {
    offsets[index(at: instant.epochSeconds)]
  }

  /// The changes of the offset in a stretch of time: when, from what, and to what.
  package func changes(
    after: Timestamp, through: Timestamp
  ) -> [(at: Timestamp, from: Int64, to: Int64)] {
    starts.indices.dropFirst().compactMap { index in
      let at = Timestamp(epochSeconds: starts[index])
      guard at > after, at <= through else { return nil }
      return (at, offsets[index - 1], offsets[index])
    }
  }

  /// The stretch that a second lies in.
  func stretch(at second: Int64) -> Stretch {
    stretch(index(at: second))
  }

  /// The stretch before or after another one; nil beyond the table's ends.
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

  /// Whether two are of one name.
  package static func == (left: ZoneTimes, right: ZoneTimes) -> Bool {
    left.identifier == right.identifier
  }

  /// By the name.
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
