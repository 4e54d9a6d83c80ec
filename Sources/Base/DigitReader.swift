/// Reads numbers of fixed width from a text.
package struct DigitReader {
  private let bytes: [UInt8]
  package private(set) var position = 0

  package init(_ text: [UInt8]) { bytes = text }

  package var isAtEnd: Bool { position >= bytes.count }
  package var rest: String { String(decoding: bytes[min(position, bytes.count)...], as: UTF8.self) }

  package mutating func skip(_ sign: Unicode.Scalar) -> Bool {
    guard !isAtEnd, UInt32(bytes[position]) == sign.value else { return false }
    position += 1
    return true
  }

  package mutating func digits() -> [Int64] {
    var digits: [Int64] = []
    while !isAtEnd, (48...57).contains(bytes[position]) {
      digits.append(Int64(bytes[position]) - 48)
      position += 1
    }
    return digits
  }

  /// Reads a number of exactly so many digits.
  package mutating func number(_ width: Int) -> Int64? {
    var number: Int64 = 0
    for _ in 0..<width {
      guard !isAtEnd, (48...57).contains(bytes[position]) else { return nil }
      number = number * 10 + Int64(bytes[position]) - 48
      position += 1
    }
    return number
  }

  /// Reads a fraction of a second, if there is one, as nanoseconds.
  package mutating func fraction() -> Int64? {
    guard skip(".") else { return 0 }
    let digits = digits()
    if digits.isEmpty { return nil }
    var nanoseconds = digits.prefix(9).reduce(0) { $0 * 10 + $1 }
    for _ in digits.prefix(9).count..<9 { nanoseconds *= 10 }
    return nanoseconds
  }

  /// Reads an offset such as `+02:00`, as seconds ahead of UTC.
  package mutating func offset(needsSign: Bool, needsColon: Bool = true) -> Int64? {
    let isNegative = skip("-")
    if !isNegative, !skip("+"), needsSign { return nil }
    guard let hours = number(2), skip(":") || !needsColon, let minutes = number(2), hours < 24,
      minutes < 60
    else { return nil }
    return (hours * 3600 + minutes * 60) * (isNegative ? -1 : 1)
  }

  /// Reads up to the next digit or point.
  package mutating func word() -> String {
    let start = position
    while !isAtEnd, bytes[position] != 46, !(48...57).contains(bytes[position]) { position += 1 }
    return String(decoding: bytes[start..<position], as: UTF8.self)
  }
}

// Writing digits: numbers of fixed width.

extension String {
  /// Creates the digits of a number that is not negative, with leading zeros up to a width.
  package init(_ number: some BinaryInteger, radix: Int = 10, width: Int) {
    let digits = String(number, radix: radix)
    self = String(repeating: "0", count: Swift.max(0, width - digits.utf8.count)) + digits
  }
}

extension [UInt8] {
  /// Appends the digits of a number that is not negative, with leading zeros up to a width.
  package mutating func append(_ number: Int64, width: Int) {
    let start = count
    append(json: number)
    let missing = Swift.max(0, width - (count - start))
    insert(contentsOf: repeatElement(UInt8(ascii: "0"), count: missing), at: start)
  }
}
