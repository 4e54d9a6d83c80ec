package import Base

/// A point in time in UTC, in nanoseconds, as CEL has it: years 1 to 9999.
package struct CELInstant: Hashable, Comparable, Sendable {
  /// Seconds since 1970.
  package let seconds: Int64
  /// Nanoseconds after that, from 0 to 999,999,999.
  package let nanoseconds: Int64

  static let range: ClosedRange<Int64> = -62_135_596_800...253_402_300_799
  private static let billion: Int64 = 1_000_000_000

  init(seconds: Int64, nanoseconds: Int64) throws(CELFault) {
    guard Self.range.contains(seconds) else { throw .outOfRange }
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }

  /// A time of a ride; one beyond the range is the nearest time in it.
  package init(_ instant: Timestamp) {
    let whole = instant.epochSeconds
    seconds = min(max(whole, Self.range.lowerBound), Self.range.upperBound)
    let rest = instant.microseconds % 1_000_000
    nanoseconds = seconds == whole ? (rest < 0 ? rest + 1_000_000 : rest) * 1000 : 0
  }

  package static func < (left: CELInstant, right: CELInstant) -> Bool {
    (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
  }

  func adding(_ duration: Int64) throws(CELFault) -> CELInstant {
    let rest = nanoseconds + duration % Self.billion
    let carry: Int64 = rest < 0 ? -1 : rest >= Self.billion ? 1 : 0
    return try CELInstant(
      seconds: seconds + duration / Self.billion + carry, nanoseconds: rest - carry * Self.billion)
  }

  func subtracting(_ duration: Int64) throws(CELFault) -> CELInstant {
    let rest = nanoseconds - duration % Self.billion
    let carry: Int64 = rest < 0 ? -1 : rest >= Self.billion ? 1 : 0
    return try CELInstant(
      seconds: seconds - duration / Self.billion + carry, nanoseconds: rest - carry * Self.billion)
  }

  /// Returns the time since another one, in nanoseconds.
  func since(_ other: CELInstant) throws(CELFault) -> Int64 {
    let (whole, overflow) = (seconds - other.seconds).multipliedReportingOverflow(by: Self.billion)
    let (sum, isOver) = whole.addingReportingOverflow(nanoseconds - other.nanoseconds)
    if overflow || isOver { throw .outOfRange }
    return sum
  }
}

extension CELInstant {
  /// Parses a time of RFC 3339, such as `2026-11-22T08:00:00.5+01:00`.
  init(_ text: String) throws(CELFault) {
    guard let time = ISOTime(Array(text.utf8), isRFC3339: true) else {
      throw .unreadable(text, as: .timestamp)
    }
    try self.init(seconds: time.seconds, nanoseconds: time.nanoseconds)
  }

  /// The text that `string()` gives.
  package var text: String {
    CivilTime.iso(Timestamp(epochSeconds: seconds)).dropLast()
      + Self.fraction(nanoseconds) + "Z"
  }

  /// Returns nanoseconds as a fraction such as `.5`; nothing for zero.
  static func fraction(_ nanoseconds: Int64) -> String {
    if nanoseconds == 0 { return "" }
    var digits = String(nanoseconds, width: 9)
    while digits.last == "0" { digits.removeLast() }
    return "." + digits
  }
}

/// Durations as texts.
enum CELDuration {
  /// Parses a duration such as `90s`, `1.5h` or `-1h30m`.
  static func nanoseconds(_ text: String) throws(CELFault) -> Int64 {
    var digits = DigitReader(Array(text.utf8))
    let isNegative = digits.skip("-")
    if !isNegative { _ = digits.skip("+") }
    if digits.rest == "0" { return 0 }
    var sum: Int64 = 0
    repeat {
      let before = digits.position
      let whole = digits.digits()
      var part: UInt64 = 0
      var scale: UInt64 = 1
      var hasDigits = !whole.isEmpty
      if digits.skip(".") {
        let fraction = digits.digits()
        hasDigits = hasDigits || !fraction.isEmpty
        for digit in fraction.prefix(18) {
          part = part * 10 + UInt64(digit)
          scale *= 10
        }
      }
      guard hasDigits, before < digits.position, let unit = digits.unit() else {
        throw .unreadable(text, as: .duration)
      }
      var count: Int64 = 0
      for digit in whole {
        let (tens, isTooLarge) = count.multipliedReportingOverflow(by: 10)
        let (next, isOver) = tens.addingReportingOverflow(digit)
        if isTooLarge || isOver { throw .outOfRange }
        count = next
      }
      let (product, isTooLarge) = count.multipliedReportingOverflow(by: unit)
      let rest = Int64(scale.dividingFullWidth(part.multipliedFullWidth(by: UInt64(unit))).quotient)
      let (with, isOver) = product.addingReportingOverflow(rest)
      let (next, isBeyond) = sum.subtractingReportingOverflow(with)
      if isTooLarge || isOver || isBeyond { throw .outOfRange }
      // Summed up below zero, where there is one more value.
      sum = next
    } while !digits.isAtEnd
    if isNegative { return sum }
    let (positive, overflow) = Int64(0).subtractingReportingOverflow(sum)
    if overflow { throw .outOfRange }
    return positive
  }

  /// The text that `string()` gives: seconds.
  static func text(_ nanoseconds: Int64) -> String {
    let magnitude = nanoseconds.magnitude
    return (nanoseconds < 0 ? "-" : "") + String(magnitude / 1_000_000_000)
      + CELInstant.fraction(Int64(magnitude % 1_000_000_000)) + "s"
  }
}

extension DigitReader {
  /// Reads the unit of a duration, in nanoseconds.
  fileprivate mutating func unit() -> Int64? {
    switch word() {
    case "ns": 1
    case "us", "\u{b5}s", "\u{3bc}s": 1000
    case "ms": 1_000_000
    case "s": 1_000_000_000
    case "m": 60_000_000_000
    case "h": 3_600_000_000_000
    default: nil
    }
  }
}
