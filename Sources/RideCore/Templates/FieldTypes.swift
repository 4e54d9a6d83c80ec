package import Base

extension PayloadTemplate {
  /// The field of a card that has this value: as declared, otherwise as far as it can be inferred.
  package var cardField: CardField {
    switch self {
    case .field(_, let field): field
    case .literal(let value): CardField(FieldType(of: value), isOptional: value == .null)
    case .value(let text):
      CardField(text.inferred.type, isOptional: text.solePlaceholder?.isNullable ?? false)
    case .visible: CardField(.string)
    case .object(let members): CardField(.object(members.mapValues(\.cardField)))
    case .array(let elements):
      CardField(.list(Self.common(elements.map(\.cardField))))
    }
  }

  /// Returns the type that all elements of a list have; nil if they differ or may be null.
  private static func common(_ elements: [CardField]) -> FieldType? {
    guard let first = elements.first, elements.allSatisfy({ $0.type == first.type }),
      !elements.contains(where: \.isOptional)
    else { return nil }
    return first.type
  }
}

extension TextTemplate {
  /// The type of the value, and whether every value that the placeholder can have is of this type.
  package var inferred: (type: FieldType, isCertain: Bool) {
    solePlaceholder?.inferred ?? (.string, true)
  }
}

extension Placeholder {
  /// The type of the value after the filters; if a default alone determines it, it is not certain.
  fileprivate var inferred: (type: FieldType, isCertain: Bool) {
    var type: FieldType =
      switch source {
      case .ride(.state): .state
      case .ride, .eventName, .eventTime, .entered: .string
      case .attributes: declared?.fieldType ?? .unknown
      case .eventData, .me: .unknown
      }
    // Nothing makes the app write what is declared.
    var isCertain = type != .unknown && declared == nil
    var isMixed = false
    for filter in filters {
      switch filter {
      case .zone, .phoneZone: continue
      case .time, .date, .weekday, .relative, .currency, .plural, .select, .upper, .lower:
        (type, isCertain, isMixed) = (.string, true, false)
      case .int: (type, isCertain, isMixed) = (.int, true, false)
      case .epoch: (type, isCertain, isMixed) = (.dateEpoch, true, false)
      case .fallback(.null): continue
      case .fallback(let value):
        let own = FieldType(of: value)
        if type == .unknown {
          type = own
        } else if type == .state, own == .string {
          (type, isCertain) = (.string, true)
        } else {
          isMixed = isMixed || !type.decodes(own)
        }
      }
    }
    return isMixed ? (.unknown, false) : (type, isCertain)
  }

  /// The defaults that may be the value as it is sent: no later filter converts them.
  package var finalDefaults: [JSONValue] {
    var defaults: [JSONValue] = []
    for filter in filters {
      if case .fallback(let value) = filter { defaults.append(value) } else { defaults = [] }
    }
    return defaults.filter { $0 != .null }
  }
}

extension FieldType {
  /// The type of a constant.
  init(of value: JSONValue) {
    self =
      switch value {
      case .null: .unknown
      case .bool: .bool
      case .integer: .int
      case .number: .double
      case .string: .string
      case .array: .list(nil)
      case .object: .object(nil)
      }
  }

  /// Returns the value in this type, with the elements of a list and the members of an object in theirs.
  ///
  /// - Parameter path: where the value is in the card.
  func fitting(
    _ value: JSONValue, at path: String, states: Set<String>
  ) throws(RenderingError) -> JSONValue {
    switch (self, value) {
    case (.list(let element?), .array(let values)):
      var elements: [JSONValue] = []
      for (index, value) in values.enumerated() {
        elements.append(try element.fitting(value, at: "\(path)[\(index)]", states: states))
      }
      return .array(elements)
    case (.object(let fields?), .object(let members)):
      // The app's struct has no other members.
      var fitting: [String: JSONValue] = [:]
      for (key, field) in fields {
        let value = members[key] ?? .null
        fitting[key] =
          value == .null && field.isOptionalInApp
          ? .null : try field.type.fitting(value, at: "\(path).\(key)", states: states)
      }
      return .object(fitting)
    default:
      guard let converted = converted(value, states: states) else {
        throw .wrongType(path, value, self)
      }
      return converted
    }
  }

  /// Returns the value in this type if the conversion is exact; nil if the value does not fit.
  ///
  /// - Parameter states: the values of type `state`.
  package func converted(_ value: JSONValue, states: Set<String> = []) -> JSONValue? {
    switch (self, value) {
    case (.string, .string), (.int, .integer), (.double, .integer), (.double, .number),
      (.bool, .bool), (.list, .array), (.object, .object), (.unknown, _):
      value
    case (.string, .integer), (.string, .number): .string(value.text)
    case (.words(let words), .string(let word)): words.contains(word) ? value : nil
    case (.state, .string(let word)): states.contains(word) ? value : nil
    case (.int, .number(let number)): Int64(exactly: number).map { .integer($0) }
    case (.int, .string(let text)): Int64(text).map { .integer($0) }
    case (.double, .string(let text)): Self.number(text)
    case (.dateEpoch, .number(let number)):
      Int64(exactly: number).flatMap { converted(.integer($0)) }
    case (.dateEpoch, .integer), (.dateEpoch, .string):
      TemplateContext.instant(from: value).map { .integer($0.epochSeconds) }
    default: nil
    }
  }

  /// Returns the number that a text writes: digits, or a number as JSON has it.
  private static func number(_ text: String) -> JSONValue? {
    if let whole = Int64(text) { return .integer(whole) }
    // JSON may stand between spaces; a number in a text does not.
    guard text.utf8.allSatisfy({ $0 > 0x20 }), let value = JSONValue(json: text.utf8) else {
      return nil
    }
    switch value {
    case .integer, .number: return value
    default: return nil
    }
  }

  /// Whether some value of another type can be converted to this one.
  package func canHold(_ other: FieldType) -> Bool {
    switch (self, other) {
    case (.unknown, _), (_, .unknown), (.list, .list), (.object, .object): true
    case (.string, .int), (.string, .double), (.string, .dateEpoch), (.string, .state),
      (.state, .string), (.words, .string), (.words, .state), (.string, .words), (.words, .words),
      (.int, .string), (.int, .double), (.int, .dateEpoch), (.double, .string),
      (.double, .int), (.double, .dateEpoch), (.dateEpoch, .int), (.dateEpoch, .double),
      (.dateEpoch, .string):
      true
    default: self == other
    }
  }
}

extension JSONValue {
  /// The value with its type, for messages: `the string "soon"`, `the number 4.5`.
  package var described: String {
    switch self {
    case .string(let text): "the string \(text.quotedBrief)"
    case .integer, .number: "the number \(text)"
    case .bool, .null: text
    case .array: "a list"
    case .object: "an object"
    }
  }
}
