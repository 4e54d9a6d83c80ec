/// Writes random rule files by `RuleGrammar`.
///
/// Most are valid. A part of the others has a text of a wrong symbol, such as a list of events in
/// the place of a duration.
struct RuleWriter {
  /// A text of a symbol, by its index.
  struct Choice: Hashable {
    var symbol: String
    var index: Int
  }

  /// The strings that the rules name.
  static let strings: [RuleBytes.File] = [
    ("strings/en.yaml", Array("hello: Hello {{ride.id}}\n\(texts)".utf8)),
    ("strings/ar.yaml", Array("hello: مرحبا {{ride.id}}\n\(texts)".utf8)),
  ]

  /// Those of rules whose alerts name none.
  private static let texts = (0..<nameCount).map { "r\($0): { title: x, body: y }\n" }.joined()
  private static let nameCount = 12
  private static let symbols = RuleGrammar.texts.keys.sorted()
  private static let depthLimit = 12

  private(set) var choices: Set<Choice> = []
  private var chance: Chance
  private var names = 0
  private let wrongPercent: Int

  init(seed: UInt64, wrongPercent: Int = 0) {
    chance = Chance(seed: seed)
    self.wrongPercent = wrongPercent
  }

  /// All choices that there are.
  static let allChoices = Set(
    RuleGrammar.texts.flatMap { symbol, texts in
      texts.indices.map { Choice(symbol: symbol, index: $0) }
    })

  mutating func files() -> [RuleBytes.File] {
    var text = write("service")
    text += write("attributes") + write("defaults") + "rules:" + write("rules") + "\n"
    let files = [("f.yaml", Array(text.utf8))]
    guard chance.percent(25) else { return files }
    return files + [("g.yaml", Array(("rules:" + write("rules") + "\n").utf8))]
  }

  private mutating func write(_ symbol: String, depth: Int = 0) -> String {
    if symbol == "name" {
      names += 1
      return "r\(names % Self.nameCount)"
    }
    var symbol = symbol
    if depth > 0, chance.percent(wrongPercent) { symbol = chance.pick(of: Self.symbols, else: "") }
    let texts = RuleGrammar.texts[symbol] ?? []
    let isDeep = depth > Self.depthLimit
    let index = isDeep ? 0 : chance.number(0...max(0, texts.count - 1))
    guard texts.indices.contains(index) else { return "" }
    choices.insert(Choice(symbol: symbol, index: index))
    return expand(texts[index], depth: depth + 1)
  }

  /// Replaces each symbol, written `$word` or `${word}`.
  private mutating func expand(_ text: String, depth: Int) -> String {
    let parts = text.split(separator: "$", omittingEmptySubsequences: false)
    var result = String(parts[0])
    for part in parts.dropFirst() {
      let isBraced = part.first == "{"
      let word = part.drop { $0 == "{" && isBraced }.prefix { $0.isLowercase }
      result += write(String(word), depth: depth)
      result += part.dropFirst(word.count + (isBraced ? 2 : 0))
    }
    return result
  }
}
