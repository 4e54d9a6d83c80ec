import RideCore

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
