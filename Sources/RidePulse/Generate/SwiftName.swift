import Base
import RideCore

/// Names of the generated Swift source, made from keys and words of the rule files.
struct SwiftName {
  /// The names of one scope, which are distinct.
  private var taken: Set<String>

  /// - Parameter reserved: names that the scope has already, or must not hide.
  init(reserved: Set<String> = []) {
    taken = reserved
  }

  /// Returns a name of this scope in lower camel case: `etaEpoch` for `eta_epoch`.
  mutating func property(_ key: String) -> String { unique(Self.camelCase(key), "Value") }

  /// Returns a name of this scope in upper camel case.
  mutating func type(_ key: String) -> String {
    let name = Self.camelCase(key)
    return unique(name.prefix(1).uppercased() + name.dropFirst(), "Fields")
  }

  private mutating func unique(_ name: String, _ suffix: String) -> String {
    var unique = name
    var number = 1
    while !taken.insert(unique).inserted {
      unique = number == 1 ? name + suffix : "\(name)\(suffix)\(number)"
      number += 1
    }
    return unique
  }

  /// Returns letters and digits in lower camel case; a capital abbreviation at the start is in lower
  /// case as a whole: `urlOfMap` for `URLOfMap`. Words in capitals throughout are none:
  /// `atPickup` for `AT_PICKUP`.
  private static func camelCase(_ key: String) -> String {
    let isInCapitals = !key.contains(where: \.isLowercase)
    let words = key.split { !isNamePart($0) }.map { isInCapitals ? $0.lowercased() : String($0) }
    guard let first = words.first else { return "field" }
    let capitals = first.prefix { $0.isUppercase || $0.isNumber }
    let head: String
    if capitals.count == first.count {
      head = first.lowercased()
    } else if capitals.count > 1 {
      head = capitals.dropLast().lowercased() + first.dropFirst(capitals.count - 1)
    } else {
      head = first.prefix(1).lowercased() + first.dropFirst()
    }
    let tail = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
    let name = ([head] + tail).joined()
    return name.first?.isNumber == true ? "_" + name : name
  }

  private static func isNamePart(_ character: Character) -> Bool {
    character.unicodeScalars.allSatisfy { $0.properties.isXIDContinue && $0 != "_" }
      && (character.isLetter || character.isNumber && character.isASCII)
  }

  /// Returns a name as source code: a keyword is in backticks.
  static func code(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

  /// Returns a name as the label of an argument, where of all keywords only `inout` needs backticks;
  /// the compiler warns of others.
  static func label(_ name: String) -> String { name == "inout" ? code(name) : name }

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
