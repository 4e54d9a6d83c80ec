import Base
import RideCore

/// A node of a YAML document and its location.
struct YAMLNode: Sendable {
  let location: SourceLocation
  let kind: Kind

  enum Kind: Sendable {
    case scalar(YAMLScalar)
    case sequence([YAMLNode])
    case mapping([Pair])
    /// A node that is refused and already reported; no further problem is reported for it.
    case refused
  }

  /// One entry of a mapping; keys are texts, and distinct within a mapping.
  struct Pair: Sendable {
    let key: String
    let keyLocation: SourceLocation
    let value: YAMLNode
    /// Whether the key occurs again; the later values are ignored.
    var isRepeated = false
  }
}

struct YAMLScalar: Sendable {
  let text: String
  /// The meaning of the text: always a string if it is quoted; nil for a number that JSON cannot
  /// represent.
  let value: JSONValue?
  /// The location of the text's own first character; nil if the file does not contain the text
  /// literally.
  let textLocation: SourceLocation?
}

extension YAMLNode {
  /// A description of the node for messages: `a list`, `the number 5`.
  var summary: String {
    switch kind {
    case .sequence: return "a list"
    case .mapping: return "a mapping"
    case .refused: return "a value"
    case .scalar(let scalar):
      switch scalar.value {
      case .null: return "empty"
      case .bool(let flag): return flag ? "true" : "false"
      case .integer, .number, nil: return "the number \(shortened(scalar.text))"
      default: break
      }
      if scalar.text.isEmpty { return "an empty text" }
      return (scalar.text.contains("{{") ? "a text with a placeholder, " : "the text ")
        + quoted(scalar.text)
    }
  }

  /// The text, if the node is a string.
  var string: String? {
    guard case .scalar(let scalar) = kind, case .string(let text) = scalar.value else { return nil }
    return text
  }

  /// The pairs of a mapping; empty for any other node.
  var pairs: [Pair] { if case .mapping(let pairs) = kind { pairs } else { [] } }

  /// The number, if the node is a whole one.
  var integer: Int64? {
    guard case .scalar(let scalar) = kind, case .integer(let number) = scalar.value else {
      return nil
    }
    return number
  }

  /// The number, if the node is one.
  var number: Double? {
    guard case .scalar(let scalar) = kind else { return nil }
    switch scalar.value {
    case .integer(let number): return Double(number)
    case .number(let number): return number
    default: return nil
    }
  }

  /// Whether a problem was already reported for the node.
  var isRefused: Bool {
    if case .refused = kind { true } else { false }
  }
}

/// Implements the core schema of YAML 1.2 for plain scalars: `on` and `yes` are words.
enum CoreSchema {
  /// Returns the value of a plain scalar; nil for a number that JSON cannot represent, such as
  /// `.inf`.
  static func value(of text: String) -> JSONValue? {
    switch text {
    case "", "~", "null", "Null", "NULL": return .null
    case "true", "True", "TRUE": return .bool(true)
    case "false", "False", "FALSE": return .bool(false)
    default: break
    }
    guard let first = text.utf8.first, "+-.0123456789".utf8.contains(first) else {
      return .string(text)
    }
    if isDecimal(text) { return Int64(text).map { .integer($0) } }
    for (prefix, radix) in [("0o", 8), ("0x", 16)] where text.hasPrefix(prefix) {
      let digits = text.dropFirst(2)
      guard !digits.isEmpty, digits.allSatisfy({ isDigit($0, radix: radix) }) else { continue }
      return Int64(digits, radix: radix).map { .integer($0) }
    }
    guard isFloat(text) else { return .string(text) }
    guard let number = Double(text), number.isFinite else { return nil }
    return .number(number)
  }

  private static func isDigit(_ character: Character, radix: Int) -> Bool {
    guard character.isASCII, let digit = character.hexDigitValue else { return false }
    return digit < radix
  }

  private static func isDigits(_ text: Substring) -> Bool {
    text.allSatisfy { isDigit($0, radix: 10) }
  }

  private static func unsigned(_ text: String) -> Substring {
    text.hasPrefix("-") || text.hasPrefix("+") ? text.dropFirst() : text[...]
  }

  private static func isDecimal(_ text: String) -> Bool {
    let digits = unsigned(text)
    return !digits.isEmpty && isDigits(digits)
  }

  private static func isFloat(_ text: String) -> Bool {
    if [".nan", ".NaN", ".NAN"].contains(text) { return true }
    let text = unsigned(text)
    if [".inf", ".Inf", ".INF"].contains(text) { return true }
    let parts = text.split(
      maxSplits: 1, omittingEmptySubsequences: false, whereSeparator: { "eE".contains($0) })
    if parts.count == 2 {
      guard isDecimal(String(parts[1])) else { return false }
    }
    let digits = parts[0].split(separator: ".", omittingEmptySubsequences: false)
    guard digits.count <= 2, digits.allSatisfy(isDigits) else { return false }
    return digits.contains { !$0.isEmpty } && !(digits.count == 2 && parts[0] == ".")
  }
}
