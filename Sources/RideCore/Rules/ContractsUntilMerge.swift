// Replaced by the typed fields of branch s1 (`RuleSet.contracts`, `LiveActivity.contract`): delete this
// file when the two are merged.
extension RuleSet {
  /// The JSON form of each type of card, as far as it can be inferred.
  package var contracts: [CardContract] {
    var names: Set<String> = []
    return rules.compactMap { rule in
      guard case .liveActivity(let life) = rule.what, names.insert(life.attributesType).inserted
      else { return nil }
      return CardContract(
        typeName: life.attributesType, attributes: life.attributes.mapValues(\.inferred),
        contentState: life.contentState.mapValues(\.inferred))
    }
  }
}

extension PayloadTemplate {
  fileprivate var inferred: CardField {
    switch self {
    case .literal(.integer): CardField(.int)
    case .literal(.number): CardField(.double)
    case .literal(.bool): CardField(.bool)
    case .literal(.string), .visible: CardField(.string)
    case .literal: CardField(.unknown)
    case .value(let text): CardField(text.inferred)
    case .object(let members): CardField(.object(members.mapValues(\.inferred)))
    case .array: CardField(.list(nil))
    }
  }
}

extension TextTemplate {
  fileprivate var inferred: FieldType {
    guard let placeholder = solePlaceholder else { return .string }
    switch placeholder.source {
    case .ride(.state): return .state
    case .ride, .eventName, .eventTime: return .string
    case .attributes, .eventData: break
    }
    for filter in placeholder.filters {
      if case .fallback(.integer) = filter { return .int }
      if case .fallback(.string) = filter { return .string }
    }
    return .unknown
  }
}
