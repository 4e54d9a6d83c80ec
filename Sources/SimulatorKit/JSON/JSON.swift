/// A JSON value.
///
/// This is our own code because Foundation can't distinguish `1` from `1.0` and does not detect
/// duplicate keys; a strict service must do both.
package enum JSON: Equatable, Sendable {
  case null
  case bool(Bool)
  case integer(Int)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])
}

extension JSON {
  package var object: [String: JSON]? {
    if case .object(let members) = self { members } else { nil }
  }

  package var array: [JSON]? {
    if case .array(let elements) = self { elements } else { nil }
  }

  package var string: String? {
    if case .string(let text) = self { text } else { nil }
  }

  package var integer: Int? {
    if case .integer(let value) = self { value } else { nil }
  }

  /// The value of a whole number, also if it is written as `20.0`; a phone reads both.
  package var whole: Int? {
    switch self {
    case .integer(let value): value
    case .number(let value): Int(exactly: value)
    default: nil
    }
  }

  /// The value of a number, whether or not it is an integer.
  package var double: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value
    default: nil
    }
  }
}

extension JSON: CustomStringConvertible {
  /// The description used in error messages.
  package var description: String {
    String(decoding: serialized, as: UTF8.self)
  }

  /// The value on one line with sorted keys, so that texts and tests do not depend on hash order.
  package var serialized: [UInt8] {
    var output: [UInt8] = []
    write(to: &output)
    return output
  }

  private func write(to output: inout [UInt8]) {
    switch self {
    case .null: output += "null".utf8
    case .bool(let value): output += (value ? "true" : "false").utf8
    case .integer(let value): output += String(value).utf8
    case .number(let value): output += String(value).utf8
    case .string(let text): output.appendJSONString(text)
    case .array(let elements):
      output.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        element.write(to: &output)
      }
      output.append(UInt8(ascii: "]"))
    case .object(let members):
      output.append(UInt8(ascii: "{"))
      for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        output.appendJSONString(member.key)
        output.append(UInt8(ascii: ":"))
        member.value.write(to: &output)
      }
      output.append(UInt8(ascii: "}"))
    }
  }
}

extension [UInt8] {
  package mutating func appendJSONString(_ text: String) {
    append(UInt8(ascii: "\""))
    defer { append(UInt8(ascii: "\"")) }
    // Nearly every text is copied unchanged.
    let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C }
    if isPlain {
      self += text.utf8
      return
    }
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        append(UInt8(ascii: "\\"))
        append(byte)
      case 0..<0x20:
        self += "\\u00".utf8
        append(Self.hexDigits[Int(byte >> 4)])
        append(Self.hexDigits[Int(byte & 15)])
      default:
        append(byte)
      }
    }
  }

  package static let hexDigits: [UInt8] = Array("0123456789abcdef".utf8)
}

/// JSON of a wrong form: the path, the value found and the form expected.
package struct FormatError: Error, Equatable, CustomStringConvertible {
  package var path = ""
  package let found: String
  package let expected: String

  package init(path: String = "", found: String, expected: String) {
    self.path = path
    self.found = found
    self.expected = expected
  }

  package var description: String {
    (path.isEmpty ? "" : "\(path): ") + "found \(found), expected \(expected)"
  }
}

/// Reads a JSON object with a fixed set of keys, and reports unknown ones.
package struct FormatReader {
  package let members: [String: JSON]
  package let path: String

  package init(_ json: JSON, at path: String, keys: Set<String>) throws(FormatError) {
    guard let members = json.object else {
      throw FormatError(path: path, found: json.description, expected: "an object")
    }
    if let unknown = members.keys.sorted().first(where: { !keys.contains($0) }) {
      let expected = "one of " + keys.sorted().joined(separator: ", ")
      throw FormatError(path: path, found: "key \"\(unknown)\"", expected: expected)
    }
    self.members = members
    self.path = path
  }

  package static func json(_ text: [UInt8]) throws(FormatError) -> JSON {
    do {
      return try JSONParser.parse(text)
    } catch {
      throw FormatError(found: "no JSON at byte \(error.offset)", expected: error.expected)
    }
  }

  package func error(_ key: String, _ expected: String) -> FormatError {
    let found = members[key]?.description ?? "nothing"
    return FormatError(path: "\(path).\(key)", found: found, expected: expected)
  }

  package func string(_ key: String) throws(FormatError) -> String? {
    guard let value = members[key] else { return nil }
    guard let text = value.string else { throw error(key, "a string") }
    return text
  }

  package func requiredString(_ key: String) throws(FormatError) -> String {
    guard let text = try string(key) else { throw error(key, "a string") }
    return text
  }

  package func strings(_ key: String) throws(FormatError) -> [String]? {
    guard let value = members[key] else { return nil }
    let texts = value.array?.compactMap(\.string)
    guard let texts, texts.count == value.array?.count else {
      throw error(key, "a list of strings")
    }
    return texts
  }

  package func integer(_ key: String, in range: ClosedRange<Int> = 0...Int.max)
    throws(FormatError) -> Int?
  {
    guard let value = members[key] else { return nil }
    guard let integer = value.integer, range.contains(integer) else {
      let limit = range.upperBound == .max ? "" : " to \(range.upperBound)"
      throw error(key, "an integer from \(range.lowerBound)\(limit)")
    }
    return integer
  }

  package func flag(_ key: String) throws(FormatError) -> Bool {
    guard let value = members[key] else { return false }
    guard value == .bool(true) else { throw error(key, "true") }
    return true
  }
}
