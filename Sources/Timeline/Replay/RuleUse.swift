package import RideCore

// What the rules use of a ride: the languages of their texts, and the values that they name.
extension RuleSet {
  /// The locales of all texts of the rules, in the order in which the files first name them.
  package var languages: [String] {
    var seen: Set<String> = []
    return rules.flatMap(\.locales).filter { $0 != "default" && seen.insert($0).inserted }
  }
}

extension Rule {
  /// The locales of its texts, each once, in the order of the file; `default` is among them.
  var locales: [String] {
    var seen: Set<String> = []
    return templates.flatMap(\.locales).filter { seen.insert($0).inserted }
  }

  /// Each placeholder, with the declared type of a card's field that consists of it alone.
  var shownValues: [(Placeholder, FieldType?)] {
    templates.flatMap(\.typedPlaceholders) + (collapse?.placeholders ?? []).map { ($0, nil) }
  }

  /// Everything of the rule that is rendered for a push.
  fileprivate var templates: [PayloadTemplate] {
    let data = data.sorted { $0.key < $1.key }.map(\.value)
    switch what {
    case .alert(let alert, _): return [alert.aps] + data + (android.map { [$0.template] } ?? [])
    case .liveActivity(let life):
      let alerts = life.alerts.sorted { $0.key < $1.key }.map(\.value.template)
      return [.object(life.attributes), .object(life.contentState)] + alerts + data
        + (life.android.map { [$0.template] } ?? [])
    case .post(let post): return [post.template(data: self.data)]
    default: return data
    }
  }
}

extension PayloadTemplate {
  fileprivate var typedPlaceholders: [(Placeholder, FieldType?)] {
    switch self {
    case .object(let members):
      members.sorted { $0.key < $1.key }.flatMap(\.value.typedPlaceholders)
    case .array(let elements): elements.flatMap(\.typedPlaceholders)
    case .field(.value(let text), let field):
      text.placeholders.map { ($0, text.solePlaceholder == nil ? nil : field.type) }
    default: placeholders.map { ($0, nil) }
    }
  }

  /// The locales of its texts, in order, with repetitions.
  var locales: [String] {
    switch self {
    case .visible(let texts): texts.texts.map(\.locale).filter { !$0.isEmpty }
    case .object(let members): members.sorted { $0.key < $1.key }.flatMap(\.value.locales)
    case .array(let elements): elements.flatMap(\.locales)
    case .field(let value, _): value.locales
    default: []
    }
  }
}
