import RuleFiles

/// An enum of the generated source whose values are words: it decodes any text, because a newer rule
/// may send a word that this version of the app does not have.
struct SwiftWordEnum {
  private let name: String
  private let summary: String
  /// `public ` before what other modules see.
  private let modifier: String
  private let cases: [(word: String, name: String)]

  init(name: String, summary: String, words: [String], modifier: String = "") {
    (self.name, self.summary, self.modifier) = (name, summary, modifier)
    cases = Self.cases(words)
  }

  /// Names that a case can't have, or that a reader would take for one of Swift's own: `.none`.
  private static let noCase: Set = [
    "unknown", "known", "rawValue", "init", "self", "encode", "hash", "none", "some",
  ]

  /// Returns each word with the name of its case.
  static func cases(_ words: [String]) -> [(word: String, name: String)] {
    var names = NameScope(reserved: noCase)
    return words.map { ($0, SwiftName.code(names.property($0))) }
  }

  /// The first case, for sample values.
  var firstCase: String { cases.first?.name ?? "unknown(\"\")" }

  /// The source of the enum, not indented.
  var lines: [String] {
    [
      "/// \(summary) One that this version of the app does not have is `unknown`.",
      "\(modifier)nonisolated enum \(name): Codable, Hashable, Sendable {",
    ] + cases.map { "  case \($0.name)" } + ["  case unknown(String)", ""] + known + [
      "  \(modifier)init(rawValue: String) {", "    switch rawValue {",
    ] + cases.map { "    case \(SwiftName.literal($0.word)): self = .\($0.name)" } + [
      "    default: self = .unknown(rawValue)", "    }", "  }", "",
      "  \(modifier)var rawValue: String {", "    switch self {",
    ] + cases.map { "    case .\($0.name): return \(SwiftName.literal($0.word))" } + [
      "    case .unknown(let word): return word", "    }", "  }", "",
    ] + GeneratedDecoder.state.lines(after: modifier).map { "  " + $0 } + [
      "",
      "  \(modifier)func encode(to encoder: any Encoder) throws {",
      "    var container = encoder.singleValueContainer()",
      "    try container.encode(rawValue)", "  }", "}",
    ]
  }

  private var known: [String] {
    let head = [
      "  /// The words that this version of the app has.",
      "  \(modifier)static let known: [\(name)] = [",
    ]
    return head + cases.map { "    .\($0.name)," } + ["  ]", ""]
  }
}

extension GeneratedDecoder {
  /// Returns the lines with a modifier in front.
  func lines(after modifier: String) -> [String] {
    lines.enumerated().map { $0.offset == 0 ? modifier + $0.element : $0.element }
  }
}
