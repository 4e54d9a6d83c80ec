/// A point in time in UTC, in whole microseconds since 1970: Postgres' own resolution, so that a
/// time that was read and written back is the same time.
package struct Timestamp: Hashable, Comparable, Sendable {
  /// Microseconds since 1970-01-01T00:00:00Z; negative before.
  package let microseconds: Int64

  /// The point that lies this many microseconds after 1970.
  package init(microseconds: Int64) {
    self.microseconds = microseconds
  }

  /// The point that lies this many whole seconds after 1970.
  package init(epochSeconds: Int64) {
    microseconds = epochSeconds.multipliedSaturating(by: 1_000_000)
  }

  /// Whole seconds since 1970, rounded down: the unit of every time that APNs reads.
  package var epochSeconds: Int64 {
    let quotient = microseconds / 1_000_000
    return microseconds % 1_000_000 < 0 ? quotient - 1 : quotient
  }

  /// Earlier first.
  package static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.microseconds < right.microseconds
  }

  /// The point after a duration; stays at the last one where the sum would overflow.
  package static func + (instant: Timestamp, duration: Duration) -> Timestamp {
    Timestamp(microseconds: instant.microseconds.addingSaturating(duration.microseconds))
  }

  /// The point before a duration; stays at the first one where the difference would overflow.
  package static func - (instant: Timestamp, duration: Duration) -> Timestamp {
    Timestamp(microseconds: instant.microseconds.subtractingSaturating(duration.microseconds))
  }

  /// How long after another point this one lies; negative where it lies before.
  package static func - (later: Timestamp, earlier: Timestamp) -> Duration {
    .microseconds(later.microseconds.subtractingSaturating(earlier.microseconds))
  }
}

extension Timestamp: Codable {
  /// Reads whole microseconds since 1970.
  package init(from decoder: any Decoder) throws {
    microseconds = try decoder.singleValueContainer().decode(Int64.self)
  }

  /// Writes whole microseconds since 1970.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(microseconds)
  }
}

extension Duration {
  /// Whole microseconds, rounded toward zero and kept within range.
  package var microseconds: Int64 {
    let parts = components
    return parts.seconds.multipliedSaturating(by: 1_000_000)
      .addingSaturating(parts.attoseconds / 1_000_000_000_000)
  }

  /// Seconds with their fraction, for showing and for C calls; not for arithmetic.
  package var inSeconds: Double {
    Double(microseconds) / 1_000_000
  }
}

extension FixedWidthInteger where Self: SignedInteger {
  func addingSaturating(_ other: Self) -> Self {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  func subtractingSaturating(_ other: Self) -> Self {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }

  func multipliedSaturating(by other: Self) -> Self {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
  }
}
