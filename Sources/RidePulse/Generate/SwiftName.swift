import Base

/// Names and literals as Swift source.
enum SwiftName {
  /// Returns a name as source code: a keyword is in backticks.
  static func code(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

  /// Returns a name as the label of an argument, where of all keywords only `inout` needs backticks;
  /// the compiler warns of others.
  static func label(_ name: String) -> String { name == "inout" ? code(name) : name }

  /// Returns a name as a parameter of an initializer.
  static func parameter(_ name: String) -> String {
    ["inout", "let", "var"].contains(name) ? code(name) : name
  }

  /// Whether the name of a module is one.
  static func isModule(_ name: String) -> Bool {
    name.first?.isNumber == false && !keywords.contains(name)
      && name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
  }

  /// Returns a text as a string literal.
  static func literal(_ text: String) -> String {
    let scalars = text.unicodeScalars.map { scalar -> String in
      switch scalar {
      case "\"", "\\": "\\\(scalar)"
      case _ where scalar.value < 0x20 || scalar.isUnprintable:
        "\\u{\(String(scalar.value, radix: 16))}"
      default: String(scalar)
      }
    }
    return "\"\(scalars.joined())\""
  }

  /// Names that a stored property can't have, even in backticks, or that would be a protocol's.
  static let noProperty: Set = ["self", "init", "hashValue"]

  /// Names of types that a generated type must not hide.
  static let types: Set = [
    "Any", "Bool", "Codable", "CodingKey", "CodingKeys", "ContentState", "Date", "Decoder",
    "Double", "Encoder", "Hashable", "Int", "JSONValue", "Optional", "Protocol", "RideState",
    "Self", "Sendable", "String", "TimeInterval", "Type",
  ]

  private static let keywords: Set = [
    "actor", "any", "as", "associatedtype", "async", "await", "borrowing", "break", "case", "catch",
    "class", "consuming", "continue", "default", "defer", "deinit", "do", "else", "enum",
    "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import",
    "in", "inout", "internal", "is", "let", "macro", "nil", "nonisolated", "open", "operator",
    "package", "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return",
    "some", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try",
    "typealias", "var", "where", "while",
  ]
}
