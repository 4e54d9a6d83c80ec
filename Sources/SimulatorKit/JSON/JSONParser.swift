/// Why a text is not JSON, and at which byte.
package struct JSONError: Error, Equatable, CustomStringConvertible {
  package let offset: Int
  package let expected: String

  package var description: String { "byte \(offset): expected \(expected)" }
}

/// Parses RFC 8259 without leniency: no duplicate keys and no trailing text.
///
/// The depth is bounded because the parser recurses and the sender chooses the depth.
package struct JSONParser {
  /// How deep the JSON of a request may be.
  package static let maximumDepth = 64

  private let bytes: [UInt8]
  private let maximumDepth: Int
  private var position = 0

  package static func parse(
    _ bytes: [UInt8], maximumDepth: Int = Self.maximumDepth
  ) throws(JSONError) -> JSON {
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw JSONError(offset: 0, expected: "UTF-8")
    }
    var parser = JSONParser(bytes: bytes, maximumDepth: maximumDepth)
    let value = try parser.value(depth: 0)
    parser.skipSpace()
    guard parser.position == bytes.count else { throw parser.failure("the end") }
    return value
  }

  private init(bytes: [UInt8], maximumDepth: Int) {
    self.bytes = bytes
    self.maximumDepth = maximumDepth
  }

  private func failure(_ expected: String) -> JSONError {
    JSONError(offset: position, expected: expected)
  }

  private var current: UInt8? {
    position < bytes.count ? bytes[position] : nil
  }

  private mutating func skipSpace() {
    while let byte = current, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
  }

  private mutating func expect(_ character: Unicode.Scalar) throws(JSONError) {
    guard current == UInt8(ascii: character) else { throw failure("'\(character)'") }
    position += 1
  }

  private mutating func consume(_ character: Unicode.Scalar) -> Bool {
    guard current == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  private mutating func value(depth: Int) throws(JSONError) -> JSON {
    guard depth < maximumDepth else { throw failure("at most \(maximumDepth) levels") }
    skipSpace()
    switch current {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try literal("true", .bool(true))
    case UInt8(ascii: "f"): return try literal("false", .bool(false))
    case UInt8(ascii: "n"): return try literal("null", .null)
    default: return try number()
    }
  }

  private mutating func literal(_ text: String, _ value: JSON) throws(JSONError) -> JSON {
    guard bytes[position...].starts(with: text.utf8) else { throw failure("a JSON value") }
    position += text.utf8.count
    return value
  }

  private mutating func object(depth: Int) throws(JSONError) -> JSON {
    try expect("{")
    var members: [String: JSON] = [:]
    skipSpace()
    if consume("}") { return .object(members) }
    repeat {
      skipSpace()
      let start = position
      let key = try string()
      if members[key] != nil {
        throw JSONError(offset: start, expected: "each key once, found \"\(key)\" twice")
      }
      skipSpace()
      try expect(":")
      members[key] = try value(depth: depth + 1)
      skipSpace()
    } while consume(",")
    try expect("}")
    return .object(members)
  }

  private mutating func array(depth: Int) throws(JSONError) -> JSON {
    try expect("[")
    var elements: [JSON] = []
    skipSpace()
    if consume("]") { return .array(elements) }
    repeat {
      elements.append(try value(depth: depth + 1))
      skipSpace()
    } while consume(",")
    try expect("]")
    return .array(elements)
  }

  private mutating func digits() throws(JSONError) {
    let start = position
    while let byte = current, (0x30...0x39).contains(byte) { position += 1 }
    guard position > start else { throw failure("a JSON value") }
  }

  private mutating func number() throws(JSONError) -> JSON {
    let start = position
    _ = consume("-")
    if !consume("0") { try digits() }
    var isInteger = true
    if consume(".") {
      isInteger = false
      try digits()
    }
    if consume("e") || consume("E") {
      isInteger = false
      if !consume("+") { _ = consume("-") }
      try digits()
    }
    let text = String(decoding: bytes[start..<position], as: UTF8.self)
    if isInteger, let value = Int(text) { return .integer(value) }
    guard let value = Double(text), value.isFinite else { throw failure("a number in range") }
    return .number(value)
  }

  private mutating func string() throws(JSONError) -> String {
    try expect("\"")
    let start = position
    while let byte = current, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 {
      position += 1
    }
    if current == UInt8(ascii: "\"") {
      defer { position += 1 }
      return String(decoding: bytes[start..<position], as: UTF8.self)
    }
    var text = Array(bytes[start..<position])
    while let byte = current, byte >= 0x20 {
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"): text += String(try escaped()).utf8
      default: text.append(byte)
      }
    }
    throw failure("the end of a string")
  }

  private mutating func escaped() throws(JSONError) -> Unicode.Scalar {
    guard let byte = current else { throw failure("an escape") }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{08}"
    case UInt8(ascii: "f"): return "\u{0C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try unicodeEscape()
    default: throw failure("an escape")
    }
  }

  private mutating func unicodeEscape() throws(JSONError) -> Unicode.Scalar {
    let unit = try hexUnit()
    if let scalar = Unicode.Scalar(unit) { return scalar }
    // Only surrogates are not scalars; a high one must be followed directly by its low half.
    try expect("\\")
    try expect("u")
    let low = try hexUnit()
    guard (0xD800...0xDBFF).contains(unit), (0xDC00...0xDFFF).contains(low),
      let scalar = Unicode.Scalar(0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(low) - 0xDC00))
    else { throw failure("a surrogate pair") }
    return scalar
  }

  private mutating func hexUnit() throws(JSONError) -> UInt16 {
    guard position + 4 <= bytes.count,
      bytes[position..<position + 4].allSatisfy(\.isHexDigit),
      let unit = UInt16(String(decoding: bytes[position..<position + 4], as: UTF8.self), radix: 16)
    else { throw failure("four hex digits") }
    position += 4
    return unit
  }
}

extension UInt8 {
  package var isHexDigit: Bool {
    switch self {
    case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
    default: false
    }
  }
}
