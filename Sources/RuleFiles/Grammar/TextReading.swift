import RideCore

extension Diagnostics {
  /// Decodes a text with placeholders, which must not be empty.
  func text(
    _ node: YAMLNode, for key: String, expected: String = "a text such as \"Your driver is here\""
  ) -> TextTemplate? {
    guard let text = node.string else {
      reportType(of: node, for: key, expected: expected + quotesHint(node))
      return nil
    }
    if text.allSatisfy(\.isWhitespace) {
      report(node.location, "\(key) is an empty text", expected: expected)
      return nil
    }
    return template(node, for: key)
  }

  /// Decodes a text with placeholders, which may be empty.
  func template(_ node: YAMLNode, for key: String) -> TextTemplate? {
    guard case .scalar(let scalar) = node.kind else { return nil }
    do {
      return try TextTemplate(scalar.text)
    } catch {
      let before = scalar.text.prefix(error.offset).unicodeScalars.count
      let location = scalar.textPlace.map {
        SourceLocation(line: $0.line, column: $0.column + before)
      }
      report(
        location ?? node.location, "\(Self.named(error.found)) in a placeholder of \(key)",
        expected: error.expected, nearest: error.nearest)
      return nil
    }
  }

  /// Decodes a text, or a map of locale to text.
  func localizedText(_ node: YAMLNode, for key: String) -> LocalizedText? {
    guard case .mapping(let pairs) = node.kind else {
      return text(
        node, for: key,
        expected: "a text such as \"Your driver is here\", or a map of locale to text"
      ).map { LocalizedText($0) }
    }
    if pairs.isEmpty {
      report(node.location, "\(key) is an empty map", expected: "a text for at least one locale")
    }
    var first: [[String]: String] = [:]
    let texts = pairs.compactMap { pair -> (locale: String, text: TextTemplate)? in
      let tag = pair.key.lowercased().split(whereSeparator: { "-_".contains($0) }).map(String.init)
      if !Self.isLocale(pair.key) {
        report(
          pair.keyPlace, "\(quoted(pair.key)) as a locale of \(key)",
          expected: "a locale such as en, de or pt-BR, or default")
      } else if let other = first.updateValue(pair.key, forKey: tag) {
        report(
          pair.keyPlace, "the locale \(quoted(pair.key)) for the second time in \(key)",
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
}
