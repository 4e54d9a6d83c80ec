/// The JSON form of a card's data, as the app's `ActivityAttributes` type declares it.
package struct CardContract: Hashable, Sendable {
  /// `attributes-type`.
  package var typeName: String
  /// What never changes: the stored properties of the type itself, by their JSON keys.
  package var attributes: [String: CardField]
  /// What changes: the stored properties of its `ContentState`, by their JSON keys.
  package var contentState: [String: CardField]

  package init(
    typeName: String, attributes: [String: CardField] = [:], contentState: [String: CardField] = [:]
  ) {
    self.typeName = typeName
    self.attributes = attributes
    self.contentState = contentState
  }
}

/// A field of a card.
package struct CardField: Hashable, Sendable {
  package var type: FieldType
  /// `optional`: without a value the field is null.
  package var isOptional = false
  /// `since`: the version of the contract that added the field; nil if the first one has it.
  package var since: Int?

  package init(_ type: FieldType, isOptional: Bool = false, since: Int? = nil) {
    self.type = type
    self.isOptional = isOptional
    self.since = since
  }
}

/// The JSON type of a field.
package indirect enum FieldType: Hashable, Sendable {
  case string
  /// A string that is one of the ride's states.
  case state
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
