import RuleFiles

/// An enum of the generated source whose values are words: it decodes any text, because a newer rule
/// may send a word that this version of the app does not have.
struct SwiftWordEnum {
  private let name: String
  private let summary: String
  private let cases: [(word: String, name: String)]

  init(name: String, summary: String, words: [String]) {
    (self.name, self.summary, cases) = (name, summary, Self.cases(words))
  }

  /// Returns each word with the name of its case.
  static func cases(_ words: [String]) -> [(word: String, name: String)] {
    var names = NameScope(reserved: ["unknown", "rawValue", "init", "self", "encode", "hash"])
    return words.map { ($0, SwiftName.code(names.property($0))) }
  }

  /// The first case, for sample values.
  var firstCase: String { cases.first?.name ?? "unknown(\"\")" }

  /// The source of the enum, not indented.
  var lines: [String] {
    [
      "/// \(summary) One that this version of the app does not have is `unknown`.",
      "nonisolated enum \(name): Codable, Hashable, Sendable {",
    ] + cases.map { "  case \($0.name)" } + [
      "  case unknown(String)", "",
      "  init(rawValue: String) {", "    switch rawValue {",
    ] + cases.map { "    case \(SwiftName.literal($0.word)): self = .\($0.name)" } + [
      "    default: self = .unknown(rawValue)", "    }", "  }", "",
      "  var rawValue: String {", "    switch self {",
    ] + cases.map { "    case .\($0.name): return \(SwiftName.literal($0.word))" } + [
      "    case .unknown(let word): return word", "    }", "  }", "",
    ] + GeneratedDecoder.state.lines.map { "  " + $0 } + [
      "",
      "  func encode(to encoder: any Encoder) throws {",
      "    var container = encoder.singleValueContainer()",
      "    try container.encode(rawValue)", "  }", "}",
    ]
  }
}
