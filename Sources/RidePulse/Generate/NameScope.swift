/// The names of one scope of a generated source, made from keys and words of the rule files.
struct NameScope {
  /// The names of the scope, which are distinct; in lower case if case is ignored.
  private var taken: Set<String>
  private let ignoresCase: Bool

  /// - Parameters:
  ///   - reserved: names that the scope has already, or must not hide.
  ///   - ignoresCase: whether names must differ in more than their case, as those of files do.
  init(reserved: Set<String> = [], ignoresCase: Bool = false) {
    self.ignoresCase = ignoresCase
    taken = ignoresCase ? Set(reserved.map { $0.lowercased() }) : reserved
  }

  /// Returns a name of this scope in lower camel case: `etaEpoch` for `eta_epoch`.
  mutating func property(_ key: String) -> String { unique(Self.camelCase(key), "Value") }

  /// Returns a name of this scope in upper camel case, with the suffix if it is taken.
  mutating func type(_ key: String, suffix: String = "Fields") -> String {
    let name = Self.camelCase(key)
    return unique(name.prefix(1).uppercased() + name.dropFirst(), suffix)
  }

  private mutating func unique(_ name: String, _ suffix: String) -> String {
    var unique = name
    var number = 1
    while !taken.insert(ignoresCase ? unique.lowercased() : unique).inserted {
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
}
