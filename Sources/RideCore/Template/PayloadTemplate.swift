/// A JSON value with placeholders in its texts: the form of a payload before it is filled in.
package indirect enum PayloadTemplate: Hashable, Sendable {
  /// Stands as it is.
  case literal(JSONValue)

  /// A text; where it is one placeholder and nothing else, the value keeps its JSON type.
  case value(TextTemplate)

  /// A text for people to read: always a string, never an empty one, in the phone's language.
  case visible(LocalizedText)

  /// An object; the order of its members is not kept, since keys are sorted when it is written.
  case object([String: PayloadTemplate])

  /// An array.
  case array([PayloadTemplate])

  /// Every placeholder that stands in it.
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
  /// Locale, such as `de` or `pt-BR`, and text, in the order of the rule file; one entry with the
  /// locale `""` where the text is the same for all.
  package let texts: [(locale: String, text: TextTemplate)]

  /// The same text for every phone.
  package init(_ text: TextTemplate) {
    texts = [("", text)]
  }

  /// A text for each locale, in the order of the rule file; nil where there is none.
  package init?(_ texts: [(locale: String, text: TextTemplate)]) {
    guard !texts.isEmpty else { return nil }
    self.texts = texts
  }

  /// Which of `texts` a phone of this locale sees: its own, else the one with its last part left
  /// out (`zh-Hant-TW`, `zh-Hant`, `zh`), `default`, or the first.
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

  /// Equal where locales and texts are.
  package static func == (left: LocalizedText, right: LocalizedText) -> Bool {
    left.texts.elementsEqual(right.texts) { $0 == $1 }
  }

  /// Hashes locales and texts.
  package func hash(into hasher: inout Hasher) {
    for (locale, text) in texts {
      hasher.combine(locale)
      hasher.combine(text)
    }
  }
}
