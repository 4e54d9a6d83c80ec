/// The JSON type of a field.
package indirect enum FieldType: Hashable, Sendable {
  case string
  /// A string that is one of the ride's states.
  case state
  /// A string that is one of these words.
  case words([String])
  case int
  case double
  case bool
  /// A time in seconds since 1970, a whole number.
  case dateEpoch
  /// An array; nil if the type of its elements is not known.
  case list(FieldType?)
  /// An object; nil if its members are not known.
  case object([String: CardField]?)
  /// A value whose type the rule does not determine.
  case unknown
}

extension FieldType {
  /// The word for the type in rule files, messages and `contract.lock`.
  package var word: String {
    switch self {
    case .string: "string"
    case .state: "state"
    case .words(let words): "[\(words.joined(separator: ", "))]"
    case .int: "int"
    case .double: "double"
    case .bool: "bool"
    case .dateEpoch: "date-epoch"
    case .list: "list"
    case .object: "object"
    case .unknown: "unknown"
    }
  }

  /// Whether an app whose property has this type decodes all values of another type.
  ///
  /// The members of two objects are not compared.
  package func decodes(_ other: FieldType) -> Bool {
    switch (self, other) {
    case (.unknown, _), (.double, .int), (.double, .dateEpoch), (.int, .dateEpoch),
      (.dateEpoch, .int), (.string, .state), (.string, .words), (.words, .words),
      (.list(nil), .list), (.object(nil), .object),
      (.object(_?), .object(_?)):
      true
    case (.list(let element?), .list(let other?)): element.decodes(other)
    default: self == other
    }
  }
}
