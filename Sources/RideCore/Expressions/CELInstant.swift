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
    var fields = CELDigits(text)
    guard let year = fields.number(4), fields.skip("-"), let month = fields.number(2),
      fields.skip("-"), let day = fields.number(2), fields.skip("T"), let hour = fields.number(2),
      fields.skip(":"), let minute = fields.number(2), fields.skip(":"),
      let second = fields.number(2), let fraction = fields.fraction(),
      let offset = fields.zone(), fields.isAtEnd, (1...12).contains(month),
      (1...CELCalendar.days(inMonth: month, of: year)).contains(day), hour < 24, minute < 60,
      second < 60
    else { throw .unreadable(text, as: .timestamp) }
    let days = CELCalendar.days(toYear: year, month: month, day: day)
    try self.init(
      seconds: days * 86_400 + hour * 3600 + minute * 60 + second - offset, nanoseconds: fraction)
  }

  /// The text that `string()` gives.
  var text: String {
    let date = CELCalendar(self, offset: 0)
    func padded(_ number: Int64, _ width: Int) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    return padded(date.year, 4) + "-" + padded(date.month, 2) + "-" + padded(date.day, 2) + "T"
      + padded(date.second / 3600, 2) + ":" + padded(date.second / 60 % 60, 2) + ":"
      + padded(date.second % 60, 2) + CELDigits.fraction(nanoseconds) + "Z"
  }
}

/// Durations as texts.
enum CELDuration {
  /// Parses a duration such as `90s`, `1.5h` or `-1h30m`.
  static func nanoseconds(_ text: String) throws(CELFault) -> Int64 {
    var digits = CELDigits(text)
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
      + CELDigits.fraction(Int64(magnitude % 1_000_000_000)) + "s"
  }
}

/// Reads numbers of fixed width from a text.
struct CELDigits {
  private let bytes: [UInt8]
  private(set) var position = 0

  init(_ text: String) { bytes = Array(text.utf8) }

  var isAtEnd: Bool { position >= bytes.count }
  var rest: String { String(decoding: bytes[min(position, bytes.count)...], as: UTF8.self) }

  mutating func skip(_ sign: Unicode.Scalar) -> Bool {
    guard !isAtEnd, UInt32(bytes[position]) == sign.value else { return false }
    position += 1
    return true
  }

  mutating func digits() -> [Int64] {
    var digits: [Int64] = []
    while !isAtEnd, (48...57).contains(bytes[position]) {
      digits.append(Int64(bytes[position]) - 48)
      position += 1
    }
    return digits
  }

  /// Reads a number of exactly so many digits.
  mutating func number(_ width: Int) -> Int64? {
    var number: Int64 = 0
    for _ in 0..<width {
      guard !isAtEnd, (48...57).contains(bytes[position]) else { return nil }
      number = number * 10 + Int64(bytes[position]) - 48
      position += 1
    }
    return number
  }

  /// Reads a fraction of a second, if there is one, as nanoseconds.
  mutating func fraction() -> Int64? {
    guard skip(".") else { return 0 }
    let digits = digits()
    if digits.isEmpty { return nil }
    let nine = digits.prefix(9) + Array(repeating: 0, count: max(0, 9 - digits.count))
    return nine.reduce(0) { $0 * 10 + $1 }
  }

  /// Reads `Z`, or an offset, as seconds ahead of UTC.
  mutating func zone() -> Int64? {
    if skip("Z") { return 0 }
    return offset(needsSign: true)
  }

  /// Reads an offset such as `+02:00`.
  mutating func offset(needsSign: Bool) -> Int64? {
    let isNegative = skip("-")
    if !isNegative, !skip("+"), needsSign { return nil }
    guard let hours = number(2), skip(":"), let minutes = number(2), hours < 24, minutes < 60
    else { return nil }
    return (hours * 3600 + minutes * 60) * (isNegative ? -1 : 1)
  }

  /// Reads the unit of a duration, in nanoseconds.
  mutating func unit() -> Int64? {
    let start = position
    while !isAtEnd, bytes[position] != 46, !(48...57).contains(bytes[position]) { position += 1 }
    return switch String(decoding: bytes[start..<position], as: UTF8.self) {
    case "ns": 1
    case "us", "\u{b5}s", "\u{3bc}s": 1000
    case "ms": 1_000_000
    case "s": 1_000_000_000
    case "m": 60_000_000_000
    case "h": 3_600_000_000_000
    default: nil
    }
  }

  /// Returns nanoseconds as a fraction such as `.5`; nothing for zero.
  static func fraction(_ nanoseconds: Int64) -> String {
    if nanoseconds == 0 { return "" }
    var digits = String(nanoseconds + 1_000_000_000).dropFirst()
    while digits.last == "0" { digits.removeLast() }
    return "." + digits
  }
}
