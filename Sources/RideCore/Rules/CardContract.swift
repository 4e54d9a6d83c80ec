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

extension CardField {
  /// Whether the app's property is a Swift optional, which also decodes null and a missing key; without
  /// a value the field is null.
  ///
  /// Cards on screens and apps in the field may lack what a later version added.
  package var isOptionalInApp: Bool { isOptional || (since ?? 1) > 1 }
}

extension CardContract {
  /// The top-level fields by their paths.
  package var fields: [[String]: CardField] {
    var fields: [[String]: CardField] = [:]
    for (key, field) in attributes { fields[["attributes", key]] = field }
    for (key, field) in contentState { fields[["content-state", key]] = field }
    return fields
  }

  /// The paths of the fields that a later version added, by its number, such as `content-state.eta`.
  package var laterFields: [Int: [String]] {
    var found: [Int: [String]] = [:]
    Self.findLater(attributes, "attributes", &found)
    Self.findLater(contentState, "content-state", &found)
    return found.mapValues { $0.sorted() }
  }

  private static func findLater(
    _ fields: [String: CardField], _ path: String, _ found: inout [Int: [String]]
  ) {
    for (key, field) in fields {
      if let since = field.since, since > 1 { found[since, default: []].append("\(path).\(key)") }
      findLater(field.type, "\(path).\(key)", &found)
    }
  }

  private static func findLater(
    _ type: FieldType, _ path: String, _ found: inout [Int: [String]]
  ) {
    switch type {
    case .object(let members?): findLater(members, path, &found)
    case .list(let element?): findLater(element, path + "[]", &found)
    default: break
    }
  }

  /// The paths of all fields whose type the rule does not determine, such as `content-state.eta`.
  package var untypedFields: [String] {
    Self.untyped(attributes, "attributes") + Self.untyped(contentState, "content-state")
  }

  private static func untyped(_ fields: [String: CardField], _ path: String) -> [String] {
    fields.sorted { $0.key < $1.key }.flatMap { key, field in
      untyped(field.type, "\(path).\(key)")
    }
  }

  private static func untyped(_ type: FieldType, _ path: String) -> [String] {
    switch type {
    case .unknown: [path]
    case .object(let members?): untyped(members, path)
    case .list(let element?): untyped(element, path + "[]")
    default: []
    }
  }
}

extension LiveActivity {
  /// The JSON form of the card's data, as the rule declares it or as far as it can be inferred.
  package var contract: CardContract {
    CardContract(
      typeName: attributesType, attributes: attributes.mapValues(\.cardField),
      contentState: contentState.mapValues(\.cardField))
  }
}

extension RuleSet {
  /// The values that cards may have in fields of type `state`: the states, and each event under `end`
  /// whose `content` changes such a field.
  package var statesOfCards: Set<String> {
    var states = activeStates.union(finalStates)
    for case .liveActivity(let life) in rules.map(\.what) {
      for (event, changes) in life.endContents
      where changes.values.contains(where: { $0.cardField.type == .state }) {
        states.insert(event)
      }
    }
    return states
  }
}
