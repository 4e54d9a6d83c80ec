package import Base
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

  /// Whether times and numbers in it are written as the phone's locale has them; otherwise a program
  /// reads it, and their forms never vary.
  package let isForPeople: Bool

  /// Creates a text that is the same for every phone.
  package init(_ text: TextTemplate, isForPeople: Bool = false) {
    texts = [("", text)]
    self.isForPeople = isForPeople
  }

  /// Creates a text per locale, in the order of the rule file; nil if there is none.
  package init?(_ texts: [(locale: String, text: TextTemplate)]) {
    guard !texts.isEmpty else { return nil }
    self.texts = texts
    isForPeople = true
  }

  /// The same text, for people to read.
  var forPeople: LocalizedText {
    LocalizedText(texts) ?? self
  }

  /// Whether phones with different locales may receive different texts.
  package var isLocalized: Bool {
    texts.count > 1
      || isForPeople && texts.contains { $0.text.placeholders.contains(where: \.followsLocale) }
  }

  package static func == (left: LocalizedText, right: LocalizedText) -> Bool {
    left.isForPeople == right.isForPeople && left.texts.elementsEqual(right.texts) { $0 == $1 }
  }

  package func hash(into hasher: inout Hasher) {
    for (locale, text) in texts {
      hasher.combine(locale)
      hasher.combine(text)
    }
  }
}
