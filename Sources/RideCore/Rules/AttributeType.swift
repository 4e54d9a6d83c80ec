package import Base

/// The type of an attribute that the rule files declare.
package indirect enum AttributeType: Hashable, Sendable {
  /// Seconds since 1970, or ISO 8601.
  case time
  case number, text
  /// True or false.
  case flag
  /// A text that is one of these words.
  case words([String])
  case object([String: AttributeType])
  case list(AttributeType)
}

extension AttributeType {
  /// The types that are declared by name.
  package static let named: [(name: String, type: AttributeType)] = [
    ("time", .time), ("number", .number), ("text", .text), ("flag", .flag),
  ]

  /// The type in messages.
  package var word: String {
    switch self {
    case .words(let words): "[\(words.joined(separator: ", "))]"
    case .object: "a mapping"
    case .list: "a list"
    case .time, .number, .text, .flag: Self.named.first { $0.type == self }?.name ?? ""
    }
  }

  /// Returns where a value is not of the type, and the type that is expected there.
  ///
  /// Null is a value of each type: an attribute may always be missing. Members without a declaration
  /// are not compared.
  ///
  /// - Parameter path: where the value is.
  package func mismatch(of value: JSONValue, at path: [String]) -> (path: [String], Self)? {
    switch (self, value) {
    case (_, .null), (.number, .integer), (.number, .number), (.text, .string), (.flag, .bool):
      return nil
    case (.time, let value): return TemplateContext.instant(from: value) == nil ? (path, self) : nil
    case (.words(let words), .string(let word)): return words.contains(word) ? nil : (path, self)
    case (.object(let types), .object(let members)):
      let wrong = types.sorted { $0.key < $1.key }.lazy.compactMap { key, type in
        members[key].flatMap { type.mismatch(of: $0, at: path + [key]) }
      }
      return wrong.first
    case (.list(let type), .array(let elements)):
      return elements.lazy.compactMap { type.mismatch(of: $0, at: path) }.first
    default: return (path, self)
    }
  }

  /// The type of a card's field that shows the value; unknown for lists and mappings, whose members
  /// may be missing.
  package var fieldType: FieldType {
    switch self {
    case .time: .dateEpoch
    case .number: .double
    case .text: .string
    case .flag: .bool
    case .words(let words): .words(words)
    case .object, .list: .unknown
    }
  }
}
