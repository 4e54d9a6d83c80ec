/// Parses the JSON that rows, events and days usually have, several times as fast as Foundation.
///
/// It gives up, without an error, on everything rare: escapes, exponents, numbers of many digits,
/// names that appear twice, deep nesting, invalid text. Foundation judges those, so that one parser
/// alone decides what is valid.
struct PlainJSON {
  private let text: [UInt8]
  private var index = 0

  private static let depthLimit = 32
  /// Integers of so many digits are exact as doubles too.
  private static let digitLimit = 15

  /// Returns the value of a text; nil if Foundation has to parse it.
  static func value(of text: [UInt8]) -> JSONValue? {
    var parser = PlainJSON(text: text)
    guard let value = parser.value(depth: 0) else { return nil }
    parser.skipSpace()
    return parser.index == text.count ? value : nil
  }

  private init(text: [UInt8]) { self.text = text }

  private var next: UInt8? { index < text.count ? text[index] : nil }

  private mutating func skipSpace() {
    while index < text.count {
      switch text[index] {
      case 9, 10, 13, 32: index += 1
      default: return
      }
    }
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    index += 1
    return true
  }

  private mutating func value(depth: Int) -> JSONValue? {
    skipSpace()
    switch next {
    case UInt8(ascii: "{"): return object(depth: depth + 1)
    case UInt8(ascii: "["): return array(depth: depth + 1)
    case UInt8(ascii: "\""): return string().map { .string($0) }
    case UInt8(ascii: "t"): return word("true", .bool(true))
    case UInt8(ascii: "f"): return word("false", .bool(false))
    case UInt8(ascii: "n"): return word("null", .null)
    default: return number()
    }
  }

  private mutating func object(depth: Int) -> JSONValue? {
    guard depth <= Self.depthLimit else { return nil }
    index += 1
    skipSpace()
    if take("}") { return .object([:]) }
    var members: [String: JSONValue] = [:]
    while true {
      skipSpace()
      guard next == UInt8(ascii: "\""), let name = string() else { return nil }
      skipSpace()
      guard take(":"), let value = value(depth: depth) else { return nil }
      guard members.updateValue(value, forKey: name) == nil else { return nil }
      skipSpace()
      if take(",") { continue }
      return take("}") ? .object(members) : nil
    }
  }

  private mutating func array(depth: Int) -> JSONValue? {
    guard depth <= Self.depthLimit else { return nil }
    index += 1
    skipSpace()
    if take("]") { return .array([]) }
    var elements: [JSONValue] = []
    while true {
      guard let value = value(depth: depth) else { return nil }
      elements.append(value)
      skipSpace()
      if take(",") { continue }
      return take("]") ? .array(elements) : nil
    }
  }

  private mutating func word(_ word: String, _ value: JSONValue) -> JSONValue? {
    let end = index + word.utf8.count
    guard end <= text.count, word.utf8.elementsEqual(text[index..<end]) else { return nil }
    index = end
    return value
  }

  private mutating func string() -> String? {
    index += 1
    let start = index
    var isASCII = true
    while index < text.count {
      let byte = text[index]
      if byte == UInt8(ascii: "\"") {
        let bytes = text[start..<index]
        index += 1
        return isASCII ? String(decoding: bytes, as: UTF8.self) : String(validating: bytes, as: UTF8.self)
      }
      guard byte >= 32, byte != UInt8(ascii: "\\") else { return nil }
      if byte >= 128 { isASCII = false }
      index += 1
    }
    return nil
  }

  private mutating func number() -> JSONValue? {
    let isNegative = take("-")
    let start = index
    var digits: Int64 = 0
    var places = 0
    var point: Int?
    while let byte = next {
      if byte == UInt8(ascii: "."), point == nil, index > start {
        point = index
      } else if byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
        places += 1
        guard places <= Self.digitLimit else { return nil }
        digits = digits * 10 + Int64(byte - UInt8(ascii: "0"))
      } else {
        break
      }
      index += 1
    }
    let whole = (point ?? index) - start
    guard whole > 0, whole == 1 || text[start] != UInt8(ascii: "0"),
      next != UInt8(ascii: "e"), next != UInt8(ascii: "E")
    else { return nil }
    guard let point else {
      if isNegative, digits == 0 { return nil }
      return .integer(isNegative ? -digits : digits)
    }
    let fraction = index - point - 1
    guard fraction > 0 else { return nil }
    // Both are exact, so their quotient is the nearest double.
    var divisor = 1.0
    for _ in 0..<fraction { divisor *= 10 }
    let number = (isNegative ? -1 : 1) * Double(digits) / divisor
    if number == number.rounded() { return .integer(Int64(number)) }
    return .number(number)
  }
}
