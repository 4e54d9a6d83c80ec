import RideCore

/// One struct of the generated source: stored properties, dates, coding keys and sample values.
struct SwiftStruct {
  /// What all structs of a card share.
  struct Scope {
    /// The name of the attributes-type.
    var outer: String
    /// A state in Swift, for samples.
    var state: String
    /// `public ` before what other modules see.
    var modifier: String
  }

  private let name: String
  private let summary: String
  private let scope: Scope
  /// Whether it has samples of each state: it is the card's content, and a field of it is the state.
  private var hasStates: Bool
  private var properties: [GeneratedProperty] = []
  private var dates: [GeneratedDate] = []
  /// The lines of types within this one.
  var nested: [[String]] = []

  init(
    name: String, summary: String, fields: [String: CardField], _ scope: Scope,
    hasStates: Bool = false
  ) {
    (self.name, self.summary, self.scope) = (name, summary, scope)
    self.hasStates = hasStates && fields.values.contains { $0.type == .state }
    var names = NameScope(reserved: SwiftName.noProperty)
    let fields = fields.sorted { $0.key < $1.key }
    let propertyNames = fields.map { names.property($0.key) }
    // In a script without case, a type may be spelled as a property.
    var types = NameScope(
      reserved: SwiftName.types.union([scope.outer, name]).union(propertyNames))
    for ((key, field), property) in zip(fields, propertyNames) {
      let (type, sample) = swift(field.type, key, &types)
      properties.append(
        GeneratedProperty(
          key: key, name: property, type: field.isOptionalInApp ? type + "?" : type,
          // An optional null would be nil after a round trip.
          sample: field.isOptionalInApp && field.type == .unknown ? "nil" : sample, field: field))
    }
    dates = GeneratedDate.all(of: properties, in: &names)
  }

  /// Returns a type and a sample value of it; the struct of an object becomes a nested type.
  private mutating func swift(
    _ type: FieldType, _ key: String, _ types: inout NameScope
  ) -> (type: String, sample: String) {
    switch type {
    case .string: return ("String", SwiftName.literal(SampleText.words(key)))
    case .state: return ("RideState", scope.state)
    case .words(let words):
      let name = types.type(key)
      let source = SwiftWordEnum(
        name: name, summary: "The words of `\(SampleText.words(key))`.", words: words,
        modifier: scope.modifier)
      nested.append(source.lines)
      return (name, "\(name).\(source.firstCase)")
    case .int: return ("Int", "7")
    case .double: return ("Double", "4.5")
    case .bool: return ("Bool", "true")
    case .dateEpoch: return ("Int", SampleTime.literal)
    case .unknown: return ("JSONValue", "JSONValue.null")
    case .object(nil): return ("[String: JSONValue]", "[:]")
    case .list(nil): return ("[JSONValue]", "[]")
    case .list(let element?):
      let (type, sample) = swift(element, key + "Element", &types)
      return ("[\(type)]", "[\(sample)]")
    case .object(let members?):
      let name = types.type(key)
      let inner = SwiftStruct(
        name: name, summary: "`\(SampleText.words(key))` of the card.", fields: members, scope)
      nested.append(inner.lines)
      return (name, "\(name).sample")
    }
  }
}

// The source.
extension SwiftStruct {
  /// The source of the struct, not indented.
  var lines: [String] {
    var parts: [[String]] = []
    if !properties.isEmpty { parts.append(properties.flatMap(lines)) }
    parts += dates.map(lines)
    // The initializer that Swift adds by itself is internal.
    if !scope.modifier.isEmpty { parts.append(initializer) }
    parts.append(sampleLines)
    if properties.contains(where: { $0.key != $0.name }) { parts.append(codingKeys) }
    parts += nested
    let body = parts.joined(separator: [""]).map { $0.isEmpty ? "" : "  " + $0 }
    let head = "\(scope.modifier)nonisolated struct \(name): Codable, Hashable, Sendable {"
    return ["/// \(summary)", head] + body + ["}"]
  }

  private func lines(_ property: GeneratedProperty) -> [String] {
    let comment = property.remark.map { ["/// " + $0] } ?? []
    return comment + ["\(scope.modifier)var \(SwiftName.code(property.name)): \(property.type)"]
  }

  private func lines(_ date: GeneratedDate) -> [String] {
    let source = SwiftName.code(date.source.name)
    let head = "/// `\(date.source.name)` as a date."
    let variable = "\(scope.modifier)var \(SwiftName.code(date.name))"
    return date.source.field.isOptionalInApp
      ? [
        head,
        "\(variable): Date? { \(source).map { Date(timeIntervalSince1970: TimeInterval($0)) } }",
      ]
      : [head, "\(variable): Date { Date(timeIntervalSince1970: TimeInterval(\(source))) }"]
  }

  private var initializer: [String] {
    if properties.isEmpty { return ["\(scope.modifier)init() {}"] }
    let parameters = properties.enumerated().map { index, property in
      let comma = index == properties.count - 1 ? "" : ","
      return "  \(SwiftName.parameter(property.name)): \(property.type)\(comma)"
    }
    let assignments = properties.map { property in
      let name = SwiftName.code(property.name)
      return "  self.\(name) = \(name)"
    }
    return ["\(scope.modifier)init("] + parameters + [") {"] + assignments + ["}"]
  }

  private var sampleLines: [String] {
    let variable = "\(scope.modifier)static var"
    let comment = "/// Values for previews and snapshot tests, the same each time."
    if !hasStates {
      return [comment, "\(variable) sample: \(name) {"] + call(\.sample) + ["}"]
    }
    return [
      comment, "\(variable) sample: \(name) { sample(in: \(scope.state)) }", "",
      "/// The sample in another state of the ride.",
      "\(scope.modifier)static func sample(in state: RideState) -> \(name) {",
    ] + call { $0.field.type == .state ? "state" : $0.sample } + [
      "}", "", "/// The sample in each state, in the order of `RideState.known`.",
      "\(variable) samples: [\(name)] { RideState.known.map { sample(in: $0) } }",
    ]
  }

  /// Returns a call of the initializer, with a value for each property.
  private func call(_ value: (GeneratedProperty) -> String) -> [String] {
    if properties.isEmpty { return ["  \(name)()"] }
    let arguments = properties.enumerated().map { index, property in
      let comma = index == properties.count - 1 ? "" : ","
      return "    \(SwiftName.label(property.name)): \(value(property))\(comma)"
    }
    return ["  \(name)("] + arguments + ["  )"]
  }

  private var codingKeys: [String] {
    ["nonisolated enum CodingKeys: String, CodingKey {"]
      + properties.map { property in
        let name = SwiftName.code(property.name)
        return property.key == property.name
          ? "  case \(name)" : "  case \(name) = \(SwiftName.literal(property.key))"
      } + ["}"]
  }
}
