import Foundation

/// A JSON value whose texts may contain placeholders: a payload before it is filled in.
package indirect enum PayloadTemplate: Hashable, Sendable {
  /// A constant value.
  case literal(JSONValue)

  /// A text; if it consists of a single placeholder, the value keeps its JSON type.
  case value(TextTemplate)

  /// A text for people to read: always a string, never empty, in the phone's language.
  case visible(LocalizedText)

  /// An object; the order of its members is not kept, because keys are sorted when it is written.
  case object([String: PayloadTemplate])

  case array([PayloadTemplate])

  /// All placeholders in the value.
  package var placeholders: [Placeholder] {
    switch self {
    case .literal: []
    case .value(let text): text.placeholders
    case .visible(let texts): texts.texts.flatMap(\.text.placeholders)
    case .object(let members): members.sorted { $0.key < $1.key }.flatMap(\.value.placeholders)
    case .array(let elements): elements.flatMap(\.placeholders)
    }
  }
}

/// A text in one language or in several.
package struct LocalizedText: Hashable, Sendable {
  /// Each locale, such as `de` or `pt-BR`, with its text, in the order of the rule file; a single
  /// entry with the locale `""` if the text is the same for all.
  package let texts: [(locale: String, text: TextTemplate)]

  /// Creates a text that is the same for every phone.
  package init(_ text: TextTemplate) {
    texts = [("", text)]
  }

  /// Creates a text per locale, in the order of the rule file; nil if there is none.
  package init?(_ texts: [(locale: String, text: TextTemplate)]) {
    guard !texts.isEmpty else { return nil }
    self.texts = texts
  }

  /// Returns the index in `texts` for a phone with this locale: its own, otherwise the nearest one
  /// with trailing parts removed (`zh-Hant-TW`, `zh-Hant`, `zh`), otherwise `default`, otherwise
  /// the first.
  package func index(for locale: String?) -> Int {
    guard texts.count > 1, let locale else { return fallback }
    func parts(_ locale: String) -> [Substring] {
      locale.lowercased().split(whereSeparator: { $0 == "_" || $0 == "-" })
    }
    let wanted = parts(locale)
    for length in stride(from: wanted.count, to: 0, by: -1) {
      let range = wanted.prefix(length)
      if let index = texts.firstIndex(where: { parts($0.locale)[...] == range }) { return index }
    }
    return fallback
  }

  private var fallback: Int {
    texts.firstIndex { $0.locale == "default" } ?? 0
  }

  package static func == (left: LocalizedText, right: LocalizedText) -> Bool {
    left.texts.elementsEqual(right.texts) { $0 == $1 }
  }

  package func hash(into hasher: inout Hasher) {
    for (locale, text) in texts {
      hasher.combine(locale)
      hasher.combine(text)
    }
  }
}

/// A payload split into constant parts, which are encoded once, and parts to be filled in.
struct CompiledPayload: Sendable {
  private enum Piece {
    case bytes([UInt8])
    case value(TextTemplate)
    case visible(LocalizedText, key: String)
  }

  private var pieces: [Piece] = []

  /// Whether phones with different locales may receive different texts.
  private(set) var isLocalized = false

  init(_ template: PayloadTemplate) {
    append(template, key: "")
  }

  /// Returns the JSON for one ride, event and locale.
  func render(in context: TemplateContext, locale: String?) throws(RenderingError) -> [UInt8] {
    var json: [UInt8] = []
    json.reserveCapacity(512)
    for piece in pieces {
      switch piece {
      case .bytes(let bytes): json += bytes
      case .value(let template):
        if let placeholder = template.solePlaceholder {
          Self.append(try context.value(of: placeholder), to: &json)
        } else {
          Self.append(.string(try context.text(of: template)), to: &json)
        }
      case .visible(let texts, let key):
        let text = try context.text(of: texts.texts[texts.index(for: locale)].text)
        if text.allSatisfy(\.isWhitespace) { throw .emptyText(key) }
        Self.append(.string(text), to: &json)
      }
    }
    return json
  }

  private mutating func append(_ template: PayloadTemplate, key: String) {
    switch template {
    case .literal(let value): append(value.json)
    case .value(let text):
      if let literal = text.literalText {
        append(JSONValue.string(literal).json)
      } else {
        pieces.append(.value(text))
      }
    case .visible(let texts):
      isLocalized = isLocalized || texts.texts.count > 1
      if texts.texts.count == 1, let literal = texts.texts[0].text.literalText,
        !literal.allSatisfy(\.isWhitespace)
      {
        append(JSONValue.string(literal).json)
      } else {
        pieces.append(.visible(texts, key: key))
      }
    case .object(let members):
      append([UInt8(ascii: "{")])
      for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
        if index > 0 { append([UInt8(ascii: ",")]) }
        append(JSONValue.string(member.key).json + [UInt8(ascii: ":")])
        append(member.value, key: member.key)
      }
      append([UInt8(ascii: "}")])
    case .array(let elements):
      append([UInt8(ascii: "[")])
      for (index, element) in elements.enumerated() {
        if index > 0 { append([UInt8(ascii: ",")]) }
        append(element, key: key)
      }
      append([UInt8(ascii: "]")])
    }
  }

  private mutating func append(_ bytes: [UInt8]) {
    if case .bytes(let before) = pieces.last {
      pieces[pieces.count - 1] = .bytes(before + bytes)
    } else {
      pieces.append(.bytes(bytes))
    }
  }

  private static func append(_ value: JSONValue, to json: inout [UInt8]) {
    switch value {
    case .integer(let number): json += String(number).utf8
    case .bool(let flag): json += flag ? "true".utf8 : "false".utf8
    default: json += value.json
    }
  }
}

extension TemplateContext {
  /// Returns the text with its placeholders filled in.
  func text(of template: TextTemplate) throws(RenderingError) -> String {
    if let literal = template.literalText { return literal }
    var text = ""
    for segment in template.segments {
      switch segment {
      case .literal(let literal): text += literal
      case .placeholder(let placeholder):
        let value = try value(of: placeholder)
        // Inside a text, null would read as a word.
        if value == .null { throw .missing(placeholder.path) }
        text += value.text
      }
    }
    return text
  }
}
