/// A point in time in UTC, in whole microseconds since 1970.
///
/// This is the resolution of Postgres, so a time that is read and written back does not change.
package struct Timestamp: Hashable, Comparable, Sendable {
  /// Microseconds since 1970-01-01T00:00:00Z; negative before that.
  package let microseconds: Int64

  package init(microseconds: Int64) {
    self.microseconds = microseconds
  }

  /// Creates a time from whole seconds since 1970, limited to the range of microseconds.
  package init(epochSeconds: Int64) {
    microseconds = epochSeconds.multipliedSaturating(by: 1_000_000)
  }

  /// Whole seconds since 1970, rounded down: the unit of all times that are sent to APNs.
  package var epochSeconds: Int64 {
    let quotient = microseconds / 1_000_000
    return microseconds % 1_000_000 < 0 ? quotient - 1 : quotient
  }

  package static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.microseconds < right.microseconds
  }

  /// Adds a duration; the result is limited to the latest time.
  package static func + (instant: Timestamp, duration: Duration) -> Timestamp {
    Timestamp(microseconds: instant.microseconds.addingSaturating(duration.microseconds))
  }

  /// Subtracts a duration; the result is limited to the earliest time.
  package static func - (instant: Timestamp, duration: Duration) -> Timestamp {
    Timestamp(microseconds: instant.microseconds.subtractingSaturating(duration.microseconds))
  }

  /// Returns the time from `earlier` to `later`; negative if `later` is before `earlier`.
  package static func - (later: Timestamp, earlier: Timestamp) -> Duration {
    .microseconds(later.microseconds.subtractingSaturating(earlier.microseconds))
  }
}

extension Timestamp: Codable {
  /// Decodes whole microseconds since 1970.
  package init(from decoder: any Decoder) throws {
    microseconds = try decoder.singleValueContainer().decode(Int64.self)
  }

  /// Encodes whole microseconds since 1970.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(microseconds)
  }
}

extension Duration {
  /// Whole microseconds, rounded toward zero and limited to the range of `Int64`.
  package var microseconds: Int64 {
    let parts = components
    return parts.seconds.multipliedSaturating(by: 1_000_000)
      .addingSaturating(parts.attoseconds / 1_000_000_000_000)
  }

  /// Seconds with their fraction, for display and C calls; not for arithmetic.
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
