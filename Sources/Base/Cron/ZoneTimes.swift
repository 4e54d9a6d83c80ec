import Synchronization

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
  package struct Stretch {
    /// Its index in the table.
    package let index: Int
    /// Its first second; `Int64.min` for the first stretch.
    package let start: Int64
    /// The first second after it; `Int64.max` for the last stretch.
    package let end: Int64
    /// The number of seconds that local time is ahead of UTC.
    package let offset: Int64
    /// The offset of the previous stretch.
    package let before: Int64
  }

  private static let known = Mutex<[String: ZoneTimes]>([:])

  package static let utc = ZoneTimes("UTC", starts: [.min], offsets: [0])

  /// Nil if the tz database, as Foundation has it, has no zone with this name.
  package init?(identifier: String) {
    if let known = Self.known.withLock({ $0[identifier] }) {
      self = known
      return
    }
    guard let (starts, offsets) = FoundationZones.offsets(of: identifier) else { return nil }
    self.init(identifier, starts: starts, offsets: offsets)
    let table = self
    Self.known.withLock { $0[identifier] = table }
  }

  private init(_ identifier: String, starts: [Int64], offsets: [Int64]) {
    self.identifier = identifier
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
  package func stretch(at second: Int64) -> Stretch {
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
