import Base

/// Names and literals as Kotlin source.
enum KotlinName {
  /// Returns a name as source code: one that is not an identifier by itself is in backticks.
  static func code(_ name: String) -> String {
    // Kotlin's lexer takes letters and digits, not the marks that other languages have in names.
    let isPlain = name.unicodeScalars.allSatisfy { $0 == "_" || $0.isLetterOrDigit }
    return keywords.contains(name) || !isPlain ? "`\(name)`" : name
  }

  /// Whether the name of a package is one: `com.example.rides`.
  static func isPackage(_ name: String) -> Bool {
    name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { part in
      part.first.map { $0.isLetter || $0 == "_" } == true && !keywords.contains(String(part))
        && part.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    }
  }

  /// Returns a text as a string literal.
  static func literal(_ text: String) -> String {
    let scalars = text.unicodeScalars.map { scalar -> String in
      switch scalar {
      case "\"", "\\", "$": "\\\(scalar)"
      case _ where scalar.value < 0x20 || scalar.isUnprintable:
        String(scalar).utf16.map { "\\u" + String($0, radix: 16, width: 4) }.joined()
      default: String(scalar)
      }
    }
    return "\"\(scalars.joined())\""
  }

  /// Returns words for a comment: Kotlin's comments nest, so that a slash could begin one or end it.
  static func comment(_ words: String) -> String { words.replacing("/", with: " ") }

  /// Names that a property can't have: its getter would be one that each object has.
  static let noProperty: Set = ["class"]

  /// Names of types that a generated type must not hide.
  static let types: Set = [
    "Any", "Boolean", "Companion", "ContentState", "Date", "Double", "Int", "JSONArray",
    "JSONException", "JSONObject", "List", "Long", "Map", "Number", "RideState", "String",
    "Suppress", "Unknown",
  ]

  private static let keywords: Set = [
    "as", "break", "class", "continue", "do", "else", "false", "for", "fun", "if", "in",
    "interface", "is", "null", "object", "package", "return", "super", "this", "throw", "true",
    "try", "typealias", "typeof", "val", "var", "when", "while",
  ]
}

extension Unicode.Scalar {
  fileprivate var isLetterOrDigit: Bool {
    switch properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .decimalNumber:
      value < 0x10000
    default: false
    }
  }
}
