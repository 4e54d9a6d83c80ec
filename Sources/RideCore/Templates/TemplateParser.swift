/// Parses the text of a `TextTemplate` in one pass.
struct TemplateParser {
  private let characters: [Character]
  private var position = 0

  init(_ text: String) {
    characters = Array(text)
  }

  mutating func parse() throws(TemplateError) -> [TextTemplate.Segment] {
    var segments: [TextTemplate.Segment] = []
    var literal = ""
    while position < characters.count {
      guard starts(with: "{{") else {
        literal.append(characters[position])
        position += 1
        continue
      }
      if !literal.isEmpty { segments.append(.literal(literal)) }
      literal = ""
      segments.append(.placeholder(try placeholder()))
    }
    if !literal.isEmpty { segments.append(.literal(literal)) }
    return segments
  }

  private mutating func placeholder() throws(TemplateError) -> Placeholder {
    position += 2
    skipSpaces()
    let start = position
    let path = word(allowing: "._-")
    guard let source = Placeholder.source(of: path) else {
      throw error(
        at: start, found: path.isEmpty ? rest : path,
        expected: "a path such as ride.attributes.plate",
        nearest: Placeholder.nearestPath(to: path))
    }
    var placeholder = Placeholder(source: source, filters: [], path: path)
    skipSpaces()
    while starts(with: "|") {
      position += 1
      skipSpaces()
      placeholder.filters.append(try filter())
      skipSpaces()
    }
    guard starts(with: "}}") else {
      throw error(at: position, found: rest, expected: "a filter after | or the closing }}")
    }
    position += 2
    return placeholder
  }

  private mutating func filter() throws(TemplateError) -> Filter {
    let start = position
    let name = word(allowing: "_-")
    if let filter = Filter.plain[name] { return filter }
    guard name == "default" else {
      throw error(
        at: start, found: name.isEmpty ? rest : name,
        expected: "one of the filters \(Filter.names.joined(separator: ", "))",
        nearest: nearestWord(to: name, among: Filter.names))
    }
    skipSpaces()
    guard starts(with: ":") else {
      throw error(at: position, found: rest, expected: "a colon and a value after default")
    }
    position += 1
    skipSpaces()
    return .fallback(try argument())
  }

  /// Parses a quoted text, a number, `true`, `false` or `null`.
  private mutating func argument() throws(TemplateError) -> JSONValue {
    let start = position
    if let quote = current, quote == "'" || quote == "\"" {
      position += 1
      var text = ""
      while let character = current, character != quote {
        text.append(character)
        position += 1
      }
      guard current == quote else {
        throw error(at: start, found: "an open quote", expected: "the same quote at the end")
      }
      position += 1
      return .string(text)
    }
    let text = word(allowing: ".-")
    switch JSONValue(json: text.utf8) {
    case .some(let value) where !text.isEmpty: return value
    default:
      throw error(
        at: start, found: text.isEmpty ? rest : text,
        expected: "a text in quotes, a number, true, false or null")
    }
  }

  private var current: Character? {
    position < characters.count ? characters[position] : nil
  }

  /// The text at the current position, shortened for a message.
  private var rest: String {
    position < characters.count
      ? String(characters[position...].prefix(12)) : "the end of the text"
  }

  private func starts(with text: String) -> Bool {
    characters[position...].starts(with: text)
  }

  private mutating func skipSpaces() {
    while let character = current, character.isWhitespace { position += 1 }
  }

  private mutating func word(allowing others: String) -> String {
    var word = ""
    while let character = current,
      character.isLetter || character.isNumber || others.contains(character)
    {
      word.append(character)
      position += 1
    }
    return word
  }

  private func error(
    at offset: Int, found: String, expected: String, nearest: String? = nil
  ) -> TemplateError {
    TemplateError(
      offset: offset, found: found.isEmpty ? "nothing" : found, expected: expected,
      nearest: nearest)
  }
}
