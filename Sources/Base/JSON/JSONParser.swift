/// Reads JSON as RFC 8259 defines it, and reports where a text is invalid.
///
/// Every memo and every ride's attributes pass through it. Foundation's reader takes four times as
/// long, accepts a trailing comma, and reports the location of few errors.
package struct JSONParser {
  /// An error and its byte offset.
  package struct Fault: Error, Hashable {
    package var offset: Int
    package var what: String
  }

  private let text: [UInt8]
  private let depthLimit: Int
  private let allowsDuplicates: Bool
  private var index = 0

  /// Returns the value of a JSON text.
  ///
  /// - Parameters:
  ///   - depthLimit: how deep objects and arrays may be nested.
  ///   - allowsDuplicates: whether an object may have two members of one name; the last one counts,
  ///     as in Postgres' `jsonb`.
  package static func parse(
    _ text: [UInt8], depthLimit: Int = 512, allowsDuplicates: Bool = false
  ) throws(Fault) -> JSONValue {
    var parser = JSONParser(
      text: text, depthLimit: depthLimit, allowsDuplicates: allowsDuplicates)
    let value = try parser.value(depth: 0)
    parser.skipSpace()
    if parser.index < text.count { throw parser.fault("unexpected text after the value") }
    return value
  }

  private init(text: [UInt8], depthLimit: Int, allowsDuplicates: Bool) {
    self.text = text
    self.depthLimit = depthLimit
    self.allowsDuplicates = allowsDuplicates
  }

  private var next: UInt8? { index < text.count ? text[index] : nil }

  private func fault(_ what: String) -> Fault {
    Fault(offset: index, what: next == nil ? "it ends too early" : what)
  }

  private mutating func skipSpace() {
    while let byte = next, byte == 32 || byte == 10 || byte == 13 || byte == 9 { index += 1 }
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    index += 1
    return true
  }

  private mutating func value(depth: Int) throws(Fault) -> JSONValue {
    skipSpace()
    switch next {
    case UInt8(ascii: "{"): return .object(try object(depth: depth + 1))
    case UInt8(ascii: "["): return .array(try array(depth: depth + 1))
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return try number()
    }
  }

  private mutating func enter(_ depth: Int) throws(Fault) {
    if depth > depthLimit {
      throw fault("objects and arrays are nested more than \(depthLimit) deep")
    }
    index += 1
    skipSpace()
  }

  private mutating func object(depth: Int) throws(Fault) -> [String: JSONValue] {
    try enter(depth)
    if take("}") { return [:] }
    // Attributes and data have a handful of members, and a dictionary that grows is hashed again.
    var members = [String: JSONValue](minimumCapacity: depth == 1 ? 6 : 1)
    repeat {
      skipSpace()
      let start = index
      guard next == UInt8(ascii: "\"") else { throw fault("a name in quotes is expected") }
      let name = try string()
      let end = index
      skipSpace()
      guard take(":") else { throw fault("a colon is expected") }
      if members.updateValue(try value(depth: depth), forKey: name) != nil, !allowsDuplicates {
        index = start
        let quoted = text[start..<min(end, start + 60)]
        throw fault("\(String(decoding: quoted, as: UTF8.self)) appears twice")
      }
      skipSpace()
    } while take(",")
    guard take("}") else { throw fault("a comma or } is expected") }
    return members
  }

  private mutating func array(depth: Int) throws(Fault) -> [JSONValue] {
    try enter(depth)
    var elements: [JSONValue] = []
    if take("]") { return elements }
    repeat {
      elements.append(try value(depth: depth))
      skipSpace()
    } while take(",")
    guard take("]") else { throw fault("a comma or ] is expected") }
    return elements
  }

  private mutating func word(_ word: String, _ value: JSONValue) throws(Fault) -> JSONValue {
    let end = index + word.utf8.count
    guard end <= text.count, text[index..<end].elementsEqual(word.utf8) else {
      throw fault("a value is expected")
    }
    index = end
    return value
  }
}

// Texts.
extension JSONParser {
  private mutating func string() throws(Fault) -> String {
    index += 1
    let start = index
    var all: UInt8 = 0
    while let byte = next, byte >= 32, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
      all |= byte
      index += 1
    }
    if next == UInt8(ascii: "\"") {
      defer { index += 1 }
      // Validation costs more than all else, and nearly every text is ASCII.
      if all < 0x80 { return String(decoding: text[start..<index], as: UTF8.self) }
      return try unicode(text[start..<index], from: start)
    }
    // The rest is rare: a text with escapes is put together from its parts.
    var bytes = Array(text[start..<index])
    while !take("\"") {
      guard let byte = next, byte >= 32 else { throw fault("a control character in a text") }
      if byte == UInt8(ascii: "\\") {
        bytes += String(try escape()).utf8
      } else {
        bytes.append(byte)
        index += 1
      }
    }
    return try unicode(bytes[...], from: start)
  }

  private mutating func unicode(
    _ bytes: ArraySlice<UInt8>, from start: Int
  ) throws(Fault) -> String {
    if let string = String(validating: bytes, as: UTF8.self) { return string }
    index = start
    throw fault("a text that is not UTF-8")
  }

  private mutating func escape() throws(Fault) -> Unicode.Scalar {
    index += 1
    let letter = next
    let scalar: Unicode.Scalar? =
      switch letter {
      case UInt8(ascii: "\""): "\""
      case UInt8(ascii: "\\"): "\\"
      case UInt8(ascii: "/"): "/"
      case UInt8(ascii: "b"): "\u{8}"
      case UInt8(ascii: "f"): "\u{c}"
      case UInt8(ascii: "n"): "\n"
      case UInt8(ascii: "r"): "\r"
      case UInt8(ascii: "t"): "\t"
      default: nil
      }
    guard scalar != nil || letter == UInt8(ascii: "u") else { throw fault("an unknown escape") }
    index += 1
    if let scalar { return scalar }
    let unit = try codeUnit()
    if let scalar = Unicode.Scalar(unit) { return scalar }
    guard unit < 0xdc00, take("\\"), take("u") else { throw fault("half a surrogate pair") }
    let low = try codeUnit()
    guard (0xdc00...0xdfff).contains(low),
      let scalar = Unicode.Scalar(0x10000 + (unit - 0xd800) << 10 + (low - 0xdc00))
    else { throw fault("half a surrogate pair") }
    return scalar
  }

  private mutating func codeUnit() throws(Fault) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw fault("four hexadecimal digits are expected")
      }
      unit = unit << 4 | UInt32(digit)
      index += 1
    }
    return unit
  }
}

// Numbers.
extension JSONParser {
  /// Passes over digits; returns their value, or nil if it exceeds 64 bits.
  @discardableResult private mutating func digits() throws(Fault) -> Int64? {
    let start = index
    var value: Int64? = 0
    while let byte = next, (48...57).contains(byte) {
      let (tens, isFar) = (value ?? 0).multipliedReportingOverflow(by: 10)
      let (sum, isTooFar) = tens.addingReportingOverflow(Int64(byte) - 48)
      value = value == nil || isFar || isTooFar ? nil : sum
      index += 1
    }
    if index == start { throw fault("a digit is expected") }
    return value
  }

  private mutating func number() throws(Fault) -> JSONValue {
    let start = index
    let isNegative = take("-")
    guard let byte = next, (48...57).contains(byte) else {
      throw fault(isNegative ? "a digit is expected" : "a value is expected")
    }
    let whole = take("0") ? 0 : try digits()
    let isWhole =
      next != UInt8(ascii: ".") && next != UInt8(ascii: "e") && next != UInt8(ascii: "E")
    if isWhole, let whole { return .integer(isNegative ? -whole : whole) }
    if take(".") { try digits() }
    if take("e") || take("E") {
      _ = take("-") || take("+")
      try digits()
    }
    let digits = String(decoding: text[start..<index], as: UTF8.self)
    // The least number of 64 bits has no opposite.
    if isWhole, let least = Int64(digits) { return .integer(least) }
    guard let number = Double(digits), number.isFinite else {
      index = start
      throw fault("a number that exceeds the range of a double")
    }
    return isWhole ? .number(number) : JSONValue(number: number)
  }
}

extension JSONParser.Fault {
  /// The line and column of the error, as an editor shows them; columns count Unicode scalars.
  package func location(in text: [UInt8]) -> String {
    let location = SourceLocation(ofByte: offset, in: text)
    return "line \(location.line), column \(location.column)"
  }
}
