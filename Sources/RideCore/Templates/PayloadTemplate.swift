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

  /// A field of a card with its declared type.
  case field(PayloadTemplate, CardField)

  /// All placeholders in the value.
  package var placeholders: [Placeholder] {
    switch self {
    case .literal: []
    case .value(let text): text.placeholders
    case .visible(let texts): texts.texts.flatMap(\.text.placeholders)
    case .object(let members): members.sorted { $0.key < $1.key }.flatMap(\.value.placeholders)
    case .array(let elements): elements.flatMap(\.placeholders)
    case .field(let value, _): value.placeholders
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
