/// A point in time in UTC, in whole microseconds since 1970.
///
/// This is the resolution of Postgres, so a time that is read and written back does not change.
@usableFromInline
package struct Timestamp: Hashable, Comparable, Sendable {
  /// Microseconds since 1970-01-01T00:00:00Z; negative before that.
  @usableFromInline package let microseconds: Int64

  @inlinable package init(microseconds: Int64) {
    self.microseconds = microseconds
  }

  /// Creates a time from whole seconds since 1970, limited to the range of microseconds.
  @inlinable package init(epochSeconds: Int64) {
    microseconds = epochSeconds.multipliedSaturating(by: 1_000_000)
  }

  /// Whole seconds since 1970, rounded down: the unit of all times that are sent to APNs.
  @inlinable package var epochSeconds: Int64 {
    let quotient = microseconds / 1_000_000
    return microseconds % 1_000_000 < 0 ? quotient - 1 : quotient
  }

  /// The microseconds after `epochSeconds`.
  @inlinable package var fraction: Int64 {
    let rest = microseconds % 1_000_000
    return rest < 0 ? rest + 1_000_000 : rest
  }

  @inlinable package static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.microseconds < right.microseconds
  }

  /// Adds a duration; the result is limited to the latest time.
  @inlinable package static func + (instant: Timestamp, duration: Duration) -> Timestamp {
    Timestamp(microseconds: instant.microseconds.addingSaturating(duration.microseconds))
  }

  /// Subtracts a duration; the result is limited to the earliest time.
  @inlinable package static func - (instant: Timestamp, duration: Duration) -> Timestamp {
    Timestamp(microseconds: instant.microseconds.subtractingSaturating(duration.microseconds))
  }

  /// Returns the time from `earlier` to `later`; negative if `later` is before `earlier`.
  @inlinable package static func - (later: Timestamp, earlier: Timestamp) -> Duration {
    .microseconds(later.microseconds.subtractingSaturating(earlier.microseconds))
  }
}

extension Timestamp: CustomStringConvertible {
  /// ISO 8601, such as `2026-11-21T08:05:00.250000Z`, for messages and fields.
  @usableFromInline package var description: String { CivilTime.exact(self) }
}

extension Duration {
  /// Whole microseconds, rounded toward zero and limited to the range of `Int64`.
  @inlinable package var microseconds: Int64 {
    Int64(clamping: attoseconds / 1_000_000_000_000)
  }

  /// Seconds with their fraction, for display and C calls; not for arithmetic.
  @inlinable package var inSeconds: Double {
    Double(microseconds) / 1_000_000
  }
}

extension FixedWidthInteger where Self: SignedInteger {
  @inlinable package func addingSaturating(_ other: Self) -> Self {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  @inlinable package func subtractingSaturating(_ other: Self) -> Self {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }

  @inlinable package func multipliedSaturating(by other: Self) -> Self {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
  }
}

extension Duration {
  /// Parses `15s`, `5m`, `1h30m`, `2d`: whole numbers with a unit each, larger units first.
  ///
  /// Nil for anything else, for zero, and for more than ten years.
  package init?(rideText text: String) {
    let units: [(letter: Character, seconds: Int64)] = [
      ("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1),
    ]
    var seconds: Int64 = 0
    var digits: Int64?
    var next = 0
    for character in text {
      if let digit = character.wholeNumberValue, character.isASCII {
        let number = (digits ?? 0) * 10 + Int64(digit)
        guard number <= 1_000_000_000 else { return nil }
        digits = number
        continue
      }
      guard let number = digits,
        let unit = units[next...].firstIndex(where: { $0.letter == character })
      else { return nil }
      seconds += number * units[unit].seconds
      next = unit + 1
      digits = nil
    }
    guard digits == nil, seconds > 0, seconds <= 3_652 * 86_400 else { return nil }
    self = .seconds(seconds)
  }

  /// The shortest text that parses to these whole seconds, such as `1h30m`.
  package var rideText: String {
    var rest = components.seconds
    guard rest > 0 else { return "0s" }
    var text = ""
    for (letter, seconds) in [("d", Int64(86_400)), ("h", 3_600), ("m", 60), ("s", 1)]
    where rest >= seconds {
      text += "\(rest / seconds)\(letter)"
      rest %= seconds
    }
    return text
  }
}
