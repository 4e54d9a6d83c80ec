import RideCore

/// Reads texts with placeholders, and JSON objects that contain such texts.
struct TemplateDecoder {
  let diagnostics: Diagnostics

  func text(_ field: Field) -> TextTemplate? {
    switch field.key.form {
    case .text(let expected), .textOrMapping(let expected, _):
      text(field.node, for: field.name, expected: expected)
    default: nil
    }
  }

  private func text(
    _ node: YAMLNode, for key: String, expected: String = "a text such as \"Your driver is here\""
  ) -> TextTemplate? {
    guard let text = node.string else {
      diagnostics.reportType(of: node, for: key, expected: expected + quotesHint(node))
      return nil
    }
    if text.allSatisfy(\.isWhitespace) {
      diagnostics.report(node.location, "\(key) is an empty text", expected: expected)
      return nil
    }
    return template(node, for: key)
  }

  /// Reads a text with placeholders, which may be empty.
  func template(_ node: YAMLNode, for key: String) -> TextTemplate? {
    guard case .scalar(let scalar) = node.kind else { return nil }
    do {
      return try TextTemplate(scalar.text)
    } catch {
      let before = scalar.text.prefix(error.offset).unicodeScalars.count
      let location = scalar.textLocation.map {
        SourceLocation(line: $0.line, column: $0.column + before)
      }
      diagnostics.report(
        location ?? node.location, "\(Self.named(error.found)) in a placeholder of \(key)",
        expected: error.expected, nearest: error.nearest)
      return nil
    }
  }

  func texts(_ field: Field) -> [TextTemplate] {
    guard case .sequence(let elements) = field.node.kind else {
      diagnostics.reportType(of: field.node, for: field.name, expected: "a list of texts")
      return []
    }
    return elements.compactMap { text($0, for: "an entry of \(field.name)") }
  }

  func localizedText(_ field: Field) -> LocalizedText? {
    localizedText(field.node, for: field.name)
  }

  func localizedText(_ node: YAMLNode, for key: String) -> LocalizedText? {
    guard case .mapping(let pairs) = node.kind else {
      return text(
        node, for: key,
        expected: "a text such as \"Your driver is here\", or a map of locale to text"
      ).map { LocalizedText($0) }
    }
    if pairs.isEmpty {
      diagnostics.report(
        node.location, "\(key) is an empty map", expected: "a text for at least one locale")
    }
    var first: [[String]: String] = [:]
    let texts = pairs.compactMap { pair -> (locale: String, text: TextTemplate)? in
      let tag = pair.key.lowercased().split(whereSeparator: { "-_".contains($0) }).map(String.init)
      if !Self.isLocale(pair.key) {
        diagnostics.report(
          pair.keyLocation, "\(quoted(pair.key)) as a locale of \(key)",
          expected: "a locale such as en, de or pt-BR, or default")
      } else if let other = first.updateValue(pair.key, forKey: tag) {
        diagnostics.report(
          pair.keyLocation, "the locale \(quoted(pair.key)) for the second time in \(key)",
          expected: "each locale once (the first is \(quoted(other)))")
      }
      return text(pair.value, for: "\(key).\(shortened(pair.key))").map { (pair.key, $0) }
    }
    return LocalizedText(texts)
  }

  /// Returns whether a key is a locale such as `de`, `pt-BR` or `zh_Hant_TW`, or `default`.
  private static func isLocale(_ key: String) -> Bool {
    if key == "default" { return true }
    let parts = key.split(omittingEmptySubsequences: false, whereSeparator: { "-_".contains($0) })
    return (2...3).contains(parts[0].count) && parts[0].allSatisfy { $0.isASCII && $0.isLetter }
      && parts.dropFirst().allSatisfy { part in
        (2...8).contains(part.count)
          && part.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
      }
  }

  /// Returns what a `TemplateError` found: text of the file in quotes, text of the parser without.
  private static func named(_ found: String) -> String {
    ["the end of the text", "an open quote", "nothing"].contains(found) ? found : quoted(found)
  }

  private func quotesHint(_ node: YAMLNode) -> String {
    guard case .scalar(let scalar) = node.kind, scalar.value != .null else { return "" }
    return "; in quotes \(quoted(scalar.text)) is one"
  }

  /// Reads the custom keys next to `aps`.
  func payload(_ field: Field) -> [String: PayloadTemplate]? {
    guard case .payload(let reserved) = field.key.form else { return nil }
    guard case .mapping(let pairs) = field.node.kind else {
      diagnostics.reportType(
        of: field.node, for: field.name,
        expected: "a mapping such as { ride_id: \"{{ride.id}}\" }")
      return nil
    }
    if let pair = pairs.first(where: { $0.key == reserved }) {
      diagnostics.report(
        pair.keyLocation, "the key \(quoted(pair.key)) in \(field.name)",
        expected: "custom keys only: RidePulse writes aps from the keys of alert")
    }
    return members(pairs.filter { $0.key != reserved }, of: field.name)
  }

  private func members(_ pairs: [YAMLNode.Pair], of path: String) -> [String: PayloadTemplate] {
    var members: [String: PayloadTemplate] = [:]
    for pair in pairs {
      checkKey(pair, of: path)
      members[pair.key] = value(pair.value, of: "\(path).\(shortened(pair.key))")
    }
    return members
  }

  func checkKey(_ pair: YAMLNode.Pair, of path: String) {
    guard pair.key.contains("{{") else { return }
    diagnostics.report(
      pair.keyLocation, "a placeholder in a key of \(path)",
      expected: "a key without placeholders: only values may contain them")
  }

  /// Reads a JSON value whose texts may contain placeholders.
  func value(_ node: YAMLNode, of path: String) -> PayloadTemplate? {
    switch node.kind {
    case .refused: return nil
    case .mapping(let pairs): return .object(members(pairs, of: path))
    case .sequence(let elements):
      return .array(elements.enumerated().compactMap { value($1, of: "\(path)[\($0)]") })
    case .scalar(let scalar):
      switch scalar.value {
      case .string: return template(node, for: path).map { .value($0) }
      case .some(let value): return .literal(value)
      case nil:
        diagnostics.reportType(
          of: node, for: path, expected: "a number that JSON can hold, or a text in quotes")
        return nil
      }
    }
  }
}
