import Base

/// Parses a text in one pass; after an error it goes on behind the placeholder.
struct TemplateParser {
  private let characters: [Character]
  private var position = 0
  private let attributes: DeclaredAttributes?
  private(set) var errors: [TemplateError] = []

  init(_ text: String, _ attributes: DeclaredAttributes?) {
    characters = Array(text)
    self.attributes = attributes
  }

  mutating func parse() -> [TextSource.Part] {
    var parts: [TextSource.Part] = []
    var literal = ""
    while position < characters.count {
      guard starts(with: "{{") else {
        literal.append(characters[position])
        position += 1
        continue
      }
      if !literal.isEmpty { parts.append(.segment(.literal(literal))) }
      literal = ""
      do {
        parts.append(try placeholder())
      } catch {
        errors.append(error)
        while position < characters.count, !starts(with: "}}") { position += 1 }
        position = min(position + 2, characters.count)
      }
    }
    if !literal.isEmpty { parts.append(.segment(.literal(literal))) }
    return parts
  }

  private mutating func placeholder() throws(TemplateError) -> TextSource.Part {
    position += 2
    skipSpaces()
    let start = position
    let path = word(allowing: "._-")
    if path.hasPrefix("strings."), path.utf8.count > 8 {
      skipSpaces()
      guard starts(with: "}}") else {
        throw error(
          at: position, found: rest, expected: "the closing }}: a string takes no filter")
      }
      position += 2
      return .string(key: String(path.dropFirst(8)), offset: start)
    }
    guard let source = Placeholder.source(of: path) else {
      throw error(
        at: start, found: path.isEmpty ? rest : path,
        expected: "a path such as ride.attributes.plate",
        nearest: Placeholder.nearestPath(to: path))
    }
    var placeholder = Placeholder(source: source, filters: [], path: path)
    placeholder.declared = try declared(source, path, at: start)
    skipSpaces()
    while starts(with: "|") {
      position += 1
      skipSpaces()
      let offset = position
      placeholder.filters += try filters()
      try check(placeholder, filterAt: offset)
      skipSpaces()
    }
    guard starts(with: "}}") else {
      throw error(at: position, found: rest, expected: "a filter after | or the closing }}")
    }
    position += 2
    return .segment(.placeholder(placeholder))
  }

  /// Returns the declared type of an attribute; nil for any other value.
  private func declared(
    _ source: Placeholder.Source, _ path: String, at offset: Int
  ) throws(TemplateError) -> AttributeType? {
    guard let attributes, case .attributes(let keys) = source else { return nil }
    do {
      return try attributes.type(at: keys, of: "ride.attributes")
    } catch {
      throw self.error(
        at: offset, found: path, expected: error.expected, nearest: error.nearest)
    }
  }

  /// Reports the newest filter if it never fits the declared type of the value.
  private func check(_ placeholder: Placeholder, filterAt offset: Int) throws(TemplateError) {
    guard let type = placeholder.declared, let filter = placeholder.unfitting else { return }
    throw error(
      at: offset, found: filter.name,
      expected: "\(filter.needs), and \(placeholder.path) is declared as \(type.word)",
      nearest: filter.nearest)
  }

  /// Parses one filter; a time with a zone of its own is two.
  private mutating func filters() throws(TemplateError) -> [Filter] {
    let start = position
    let name = word(allowing: "_-")
    if let filter = Filter.plain[name] {
      let isOfZone = [.time, .date, .weekday].contains(filter)
      return isOfZone ? [try zone(), filter].compactMap(\.self) : [filter]
    }
    guard Filter.withArgument.contains(name) else {
      throw error(
        at: start, found: name.isEmpty ? rest : name,
        expected: "one of the filters \(Filter.names.joined(separator: ", "))",
        nearest: nearestWord(to: name, among: Filter.names))
    }
    skipSpaces()
    guard starts(with: ":") else {
      throw error(at: position, found: rest, expected: "a colon and a value after \(name)")
    }
    position += 1
    skipSpaces()
    let offset = position
    switch name {
    case "currency": return [.currency(try currency(), inMinorUnits: false)]
    case "minor-currency": return [.currency(try currency(), inMinorUnits: true)]
    case "plural": return [.plural(try forms(try argument(), at: offset))]
    case "select": return [.select(try words(try argument(), at: offset))]
    default: return [.fallback(try argument())]
    }
  }

  /// Parses the zone of a time, if it has one.
  private mutating func zone() throws(TemplateError) -> Filter? {
    let end = position
    skipSpaces()
    guard starts(with: ":") else {
      position = end
      return nil
    }
    position += 1
    skipSpaces()
    let offset = position
    let expected = "phone, or a time zone in quotes, such as 'Europe/Vienna'"
    guard let quote = current, quote == "'" || quote == "\"" else {
      let name = word(allowing: "_-+/")
      if name == "phone" { return .phoneZone }
      throw error(
        at: offset, found: name.isEmpty ? rest : name, expected: expected,
        nearest: nearestWord(to: name, among: ["phone"]))
    }
    let name = try argument().text
    if let zone = ZoneTimes(identifier: name) { return .zone(zone) }
    throw error(at: offset, found: name, expected: expected)
  }

  private mutating func currency() throws(TemplateError) -> CurrencyCode {
    let expected =
      "a currency code in quotes, such as 'EUR', or a path such as ride.attributes.currency"
    let offset = position
    guard let quote = current, quote == "'" || quote == "\"" else {
      let path = word(allowing: "._-")
      guard let source = Placeholder.source(of: path) else {
        throw error(
          at: offset, found: path.isEmpty ? rest : path, expected: expected,
          nearest: path.contains(".") ? Placeholder.nearestPath(to: path) : nil)
      }
      let type = try declared(source, path, at: offset)
      switch type {
      case nil, .text, .words: break
      case let type?:
        throw error(
          at: offset, found: path,
          expected: "a text or words with a currency's code, and it is declared as \(type.word)")
      }
      return .path(Placeholder(source: source, filters: [], path: path, declared: type))
    }
    let code = try argument().text
    if FoundationFormats.currencies.contains(code) { return .code(code) }
    let isKnown = FoundationFormats.currencies.contains(code.uppercased())
    throw error(
      at: offset, found: code, expected: expected, nearest: isKnown ? code.uppercased() : nil)
  }

  private func forms(_ argument: JSONValue, at offset: Int) throws(TemplateError) -> PluralForms {
    let expected = "forms in quotes, such as 'one=# minute|other=# minutes'"
    guard case .string(let text) = argument else {
      throw error(at: offset, found: argument.text, expected: expected)
    }
    do {
      return try PluralForms(text)
    } catch {
      let known = PluralRules.Category.allCases.map(\.rawValue)
      throw self.error(
        error, of: text, at: offset, expected: expected,
        other: "a form other: numbers of no other form take it",
        known: "a number such as 0, or one of \(known.joined(separator: ", "))", known)
    }
  }

  private func words(_ argument: JSONValue, at offset: Int) throws(TemplateError) -> SelectForms {
    let expected = "texts by word in quotes, such as 'late=The driver was late|other=Cancelled'"
    guard case .string(let text) = argument else {
      throw error(at: offset, found: argument.text, expected: expected)
    }
    do {
      return try SelectForms(text)
    } catch {
      throw self.error(
        error, of: text, at: offset, expected: expected,
        other: "a text for other: words without a text of their own take it", known: expected, [])
    }
  }

  private func error(
    _ fault: PluralForms.Fault, of text: String, at offset: Int, expected: String, other: String,
    known: String, _ names: [String]
  ) -> TemplateError {
    switch fault {
    case .noForm(let part): error(at: offset, found: part, expected: expected)
    case .twice(let name):
      error(at: offset, found: "\(name) for the second time", expected: "each form once")
    case .noOther: error(at: offset, found: text, expected: other)
    case .unknown(let name):
      error(
        at: offset, found: name, expected: known, nearest: nearestWord(to: name, among: names))
    }
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
