/// The arguments that one of the app's texts takes: `%@`, `%1$@`, `%lld`, `%#@name@`; `%%` is none.
struct FormatSpecifiers {
  /// The specifier of each argument, by its position from 1.
  private(set) var arguments: [Int: String] = [:]

  private let characters: [Character]
  private var index = 0

  init(_ text: String) {
    characters = Array(text)
    var next = 1
    while index < characters.count {
      defer { index += 1 }
      guard characters[index] == "%" else { continue }
      let start = index
      index += 1
      let position = position()
      guard let specifier = specifier() else {
        // A percent sign before anything else is shown as it is.
        index = start
        continue
      }
      if specifier == "%%" { continue }
      arguments[position ?? next] = specifier
      if position == nil { next += 1 }
    }
  }

  /// How many arguments the text needs.
  var count: Int { arguments.keys.max() ?? 0 }

  /// Reads `1$`; nil, and nothing read, if there is none.
  private mutating func position() -> Int? {
    let digits = characters[index...].prefix { $0.isASCII && $0.isNumber }
    guard let position = Int(String(digits)), (1...99).contains(position),
      digits.endIndex < characters.count, characters[digits.endIndex] == "$"
    else { return nil }
    index = digits.endIndex + 1
    return position
  }

  /// Reads the rest of a specifier up to its last character; nil if it is none.
  private mutating func specifier() -> String? {
    if characters[index...].starts(with: "#@") {
      // A variable of the catalog, which has a form for each number.
      guard let end = characters[(index + 2)...].firstIndex(of: "@") else { return nil }
      defer { index = end }
      return "%" + String(characters[index...end])
    }
    let end = characters[index...].firstIndex { !Self.between.contains($0) }
    guard let end, Self.types.contains(characters[end]) else { return nil }
    defer { index = end }
    return "%" + String(characters[index...end].filter { !"0123456789.+-'*".contains($0) })
  }

  private static let types: Set<Character> = Set("@%diuxXofFeEgGaAcCsSp")
  /// Width, precision and length; a space, which C allows too, follows many a percentage.
  private static let between: Set<Character> = Set("0123456789.+-'*hlqLztj")
}
