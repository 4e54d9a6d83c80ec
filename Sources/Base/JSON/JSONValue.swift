/// A JSON value of a ride's attributes, an event's data, a memo or a payload.
package enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  /// A whole number within 64 bits.
  case integer(Int64)
  /// Any other number.
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// Nil if the text is not valid JSON, or contains a number that no double can represent.
  package init?(json text: [UInt8]) {
    do throws(JSONParser.Fault) {
      self = try JSONParser.parse(text, allowsDuplicates: true)
    } catch {
      return nil
    }
  }

  package init?(json text: String.UTF8View) { self.init(json: Array(text)) }

  package init?(json text: Substring.UTF8View) { self.init(json: Array(text)) }

  /// A whole number is an integer, however it is written.
  init(number: Double) {
    self = Int64(exactly: number).map { .integer($0) } ?? .number(number)
  }

  /// Returns the value of a key of an object; nil if there is none, or for any other value.
  package subscript(key: String) -> JSONValue? {
    if case .object(let members) = self { members[key] } else { nil }
  }

  /// Returns the value at a path of keys below this one; nil if a key is missing.
  package func value(at path: [String]) -> JSONValue? {
    var value = self
    for key in path {
      guard let member = value[key] else { return nil }
      value = member
    }
    return value
  }

  /// The JSON text, with sorted keys, so that equal values have equal bytes.
  package var json: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(usualSize)
    bytes.append(json: self)
    return bytes
  }

  /// The number of bytes that the JSON of most values fits in, so that it rarely grows by doubling.
  private var usualSize: Int {
    switch self {
    case .string(let text): text.utf8.count + 2
    case .array, .object: 256
    case .null, .bool, .integer, .number: 24
    }
  }

  /// Returns the text as a value; nil if there is none.
  package static func text(_ text: String?) -> JSONValue? { text.map { .string($0) } }
}

extension [UInt8] {
  /// Appends the JSON text of a value, with sorted keys.
  package mutating func append(json value: JSONValue) {
    switch value {
    case .null: append(contentsOf: "null".utf8)
    case .bool(let flag): append(contentsOf: flag ? "true".utf8 : "false".utf8)
    case .integer(let number): append(json: number)
    case .number(let number):
      if let whole = Int64(exactly: number) { return append(json: whole) }
      // JSON has no infinity, which only a calculation could make.
      append(contentsOf: number.isFinite ? number.description.utf8 : "null".utf8)
    case .string(let text): append(json: text)
    case .array(let values):
      append(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        if index > 0 { append(UInt8(ascii: ",")) }
        append(json: value)
      }
      append(UInt8(ascii: "]"))
    case .object(let members):
      append(UInt8(ascii: "{"))
      for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
        if index > 0 { append(UInt8(ascii: ",")) }
        append(json: member.key)
        append(UInt8(ascii: ":"))
        append(json: member.value)
      }
      append(UInt8(ascii: "}"))
    }
  }

  /// Appends the digits of a number.
  package mutating func append(json number: Int64) {
    if number < 0 { append(UInt8(ascii: "-")) }
    var rest = number.magnitude
    // A number of 64 bits has at most 20 digits.
    var digits = InlineArray<20, UInt8>(repeating: 48)
    var start = digits.count
    repeat {
      start -= 1
      digits[start] = 48 + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    } while rest > 0
    append(addingCapacity: digits.count - start) { text in
      for index in start..<digits.count { text.append(digits[index]) }
    }
  }

  /// Appends a text in quotes.
  package mutating func append(json text: String) {
    append(UInt8(ascii: "\""))
    let isEscaped = text.containsByte {
      $0 < 32 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\")
    }
    if isEscaped {
      for byte in text.utf8 { appendEscaped(byte) }
    } else {
      append(contentsOf: text.utf8)
    }
    append(UInt8(ascii: "\""))
  }

  private mutating func appendEscaped(_ byte: UInt8) {
    let letter: Unicode.Scalar? =
      switch byte {
      case UInt8(ascii: "\""): "\""
      case UInt8(ascii: "\\"): "\\"
      case 8: "b"
      case 9: "t"
      case 10: "n"
      case 12: "f"
      case 13: "r"
      default: nil
      }
    if let letter {
      append(UInt8(ascii: "\\"))
      append(UInt8(ascii: letter))
    } else if byte < 32 {
      append(contentsOf: (byte < 16 ? "\\u000" : "\\u00").utf8)
      append(contentsOf: String(byte, radix: 16).utf8)
    } else {
      append(byte)
    }
  }
}

extension Int64 {
  /// Reads digits, after a minus or none; nil for anything else, and beyond 64 bits.
  ///
  /// It reads them in place: a `String` in between would allocate for every timestamp.
  package init?(decimal bytes: Span<UInt8>) {
    let isNegative = !bytes.isEmpty && bytes[0] == UInt8(ascii: "-")
    let digits = (isNegative ? 1 : 0)..<bytes.count
    if digits.isEmpty { return nil }
    var value: Int64 = 0
    for index in digits {
      let digit = Int64(bytes[index]) - Int64(UInt8(ascii: "0"))
      guard (0...9).contains(digit) else { return nil }
      let (shifted, tooLarge) = value.multipliedReportingOverflow(by: 10)
      // Counted downwards, because the smallest integer has no positive counterpart.
      let (next, tooSmall) = shifted.subtractingReportingOverflow(digit)
      if tooLarge || tooSmall { return nil }
      value = next
    }
    if !isNegative, value == .min { return nil }
    self = isNegative ? value : -value
  }
}
