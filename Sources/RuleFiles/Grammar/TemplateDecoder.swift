import Base
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

  func text(
    _ node: YAMLNode, for key: String, expected: String = "a text such as \"Your driver is here\""
  ) -> TextTemplate? {
    isText(node, for: key, expected: expected) ? template(node, for: key) : nil
  }

  /// Reports a node that is not a text, or an empty one.
  private func isText(_ node: YAMLNode, for key: String, expected: String) -> Bool {
    guard let text = node.string else {
      diagnostics.reportType(of: node, for: key, expected: expected + quotesHint(node))
      return false
    }
    if text.allSatisfy(\.isWhitespace) {
      diagnostics.report(node.location, "\(key) is an empty text", expected: expected)
      return false
    }
    return true
  }

  /// Reads a text with placeholders, which may be empty.
  func template(_ node: YAMLNode, for key: String) -> TextTemplate? {
    guard case .scalar(let scalar) = node.kind else { return nil }
    let source = TextSource(scalar.text, attributes: diagnostics.attributes)
    let errors = source.errors
    if case .success(let template) = source.template { return template }
    if errors.isEmpty, case .failure(let error) = source.template {
      report(error, in: scalar, node, key)
    }
    for error in errors { report(error, in: scalar, node, key) }
    return nil
  }

  private func report(
    _ error: TemplateError, in scalar: YAMLScalar, _ node: YAMLNode, _ key: String
  ) {
    diagnostics.report(
      Self.location(of: error.offset, in: scalar) ?? node.location,
      "\(Self.named(error.found)) in a placeholder of \(key)", expected: error.expected,
      nearest: error.nearest)
  }

  private static func location(of offset: Int, in scalar: YAMLScalar) -> SourceLocation? {
    let before = scalar.text.prefix(offset).unicodeScalars.count
    return scalar.textLocation.map { SourceLocation(line: $0.line, column: $0.column + before) }
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

  /// Reads a text, which may name strings, or a map of locale to such texts.
  func localizedText(_ node: YAMLNode, for key: String) -> LocalizedText? {
    guard case .mapping(let pairs) = node.kind else {
      let expected = "a text such as \"Your driver is here\", or a map of locale to text"
      guard isText(node, for: key, expected: expected) else { return nil }
      let text = textWithStrings(node, for: key)
      // A text that names strings is translated where they are.
      if let text, text.texts[0].locale.isEmpty { record(text, key, node.location) }
      return text
    }
    let text = localizedText(pairs, node, for: key)
    if let text { record(text, key, node.location) }
    return text
  }

  private func record(_ text: LocalizedText, _ key: String, _ location: SourceLocation) {
    diagnostics.texts.record(
      TextCatalog.Entry(file: diagnostics.file, location: location, name: key, text: text))
  }

  private func localizedText(
    _ pairs: [YAMLNode.Pair], _ node: YAMLNode, for key: String
  ) -> LocalizedText? {
    if pairs.isEmpty {
      diagnostics.report(
        node.location, "\(key) is an empty map", expected: "a text for at least one locale")
    }
    var first: [[String]: String] = [:]
    let texts = pairs.compactMap { pair -> (locale: String, text: TextTemplate)? in
      let tag =
        LocaleTag(pair.key).map { [$0.text] }
        ?? pair.key.lowercased().split(whereSeparator: { "-_".contains($0) }).map(String.init)
      if !Self.isLocale(pair.key) {
        diagnostics.report(
          pair.keyLocation, "\(quoted(pair.key)) as a locale of \(key)",
          expected: "a locale such as en, de or pt-BR, or default")
      } else if let other = first.updateValue(pair.key, forKey: tag) {
        diagnostics.report(
          pair.keyLocation, "the locale \(quoted(pair.key)) for the second time in \(key)",
          expected: "each locale once (the first is \(quoted(other)))")
      }
      let name = "\(key).\(shortened(pair.key))"
      guard isText(pair.value, for: name, expected: "a text such as \"Your driver is here\"")
      else { return nil }
      return textWithStrings(pair.value, for: name, locale: pair.key).map {
        (pair.key, $0.texts[0].text)
      }
    }
    return LocalizedText(texts)
  }

  /// Reads a text and puts the strings that it names in their place.
  ///
  /// - Parameter locale: the locale of the text; without one it has every locale of its strings.
  private func textWithStrings(
    _ node: YAMLNode, for key: String, locale: String? = nil
  ) -> LocalizedText? {
    guard case .scalar(let scalar) = node.kind else { return nil }
    let source = TextSource(scalar.text, attributes: diagnostics.attributes)
    for error in source.errors { report(error, in: scalar, node, key) }
    var isWhole = source.errors.isEmpty
    var locales: [String] = []
    let strings = diagnostics.texts.strings
    for case .string(let name, let offset) in source.parts {
      if let texts = strings[name] {
        for text in texts where !locales.contains(text.locale) { locales.append(text.locale) }
        continue
      }
      isWhole = false
      if !diagnostics.texts.isComplete { continue }
      let near = nearestWord(to: name, among: strings.keys.sorted())
      diagnostics.report(
        Self.location(of: offset, in: scalar) ?? node.location,
        "the unknown string \(quoted(name)) in \(key)",
        expected: strings.isEmpty
          ? "a file such as strings/en.yaml with this key, next to the rule files"
          : "a key of the files in strings/", nearest: near.map { "strings.\($0)" })
    }
    guard isWhole else { return nil }
    func text(for locale: String?) -> TextTemplate {
      var segments: [TextTemplate.Segment] = []
      for part in source.parts {
        switch part {
        case .segment(let segment): segments.append(segment)
        case .string(let name, _):
          segments += diagnostics.texts.string(name, for: locale)?.segments ?? []
        }
      }
      return TextTemplate(segments: segments)
    }
    if let locale { return LocalizedText([(locale, text(for: locale))]) }
    return LocalizedText(locales.map { ($0, text(for: $0)) }) ?? LocalizedText(text(for: nil))
  }

  /// Returns whether a key is a locale such as `de`, `pt-BR` or `zh_Hant_TW`, or `default`.
  static func isLocale(_ key: String) -> Bool {
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
      return field.refused("a mapping such as { ride_id: \"{{ride.id}}\" }")
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

  /// Returns the map of locale to text of `{ value: { en: x, de: y }, type: string }`, the form that
  /// a localised value has in cards, too; nil for any other mapping.
  private func translations(_ pairs: [YAMLNode.Pair]) -> YAMLNode? {
    guard pairs.count == 2, let value = pairs.first(where: { $0.key == "value" })?.value,
      pairs.first(where: { $0.key == "type" })?.value.string == "string",
      case .mapping(let texts) = value.kind, !texts.isEmpty,
      texts.allSatisfy({ Self.isLocale($0.key) })
    else { return nil }
    return value
  }

  /// Reads a JSON value whose texts may contain placeholders.
  func value(_ node: YAMLNode, of path: String) -> PayloadTemplate? {
    switch node.kind {
    case .refused: return nil
    case .mapping(let pairs):
      if let texts = translations(pairs) {
        return localizedText(texts, for: path).map { .visible($0) }
      }
      return .object(members(pairs, of: path))
    case .sequence(let elements):
      return .array(elements.enumerated().compactMap { value($1, of: "\(path)[\($0)]") })
    case .scalar(let scalar):
      switch scalar.value {
      case .string(let text):
        guard text.contains("strings."), TextSource(text).namesString else {
          return template(node, for: path).map { .value($0) }
        }
        return textWithStrings(node, for: path).map { .visible($0) }
      case .some(let value): return .literal(value)
      case nil:
        diagnostics.reportType(
          of: node, for: path, expected: "a number that JSON can hold, or a text in quotes")
        return nil
      }
    }
  }
}
