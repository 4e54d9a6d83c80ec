import RideCore

/// One struct of the generated source: stored properties, dates, coding keys and sample values.
struct SwiftStruct {
  private let name: String
  private let summary: String
  private var properties: [GeneratedProperty] = []
  private var dates: [GeneratedDate] = []
  /// The lines of types within this one.
  var nested: [[String]] = []

  /// - Parameters:
  ///   - outer: the name of the attributes-type.
  ///   - state: a state in Swift, for samples.
  init(
    name: String, summary: String, fields: [String: CardField], outer: String, state: String
  ) {
    (self.name, self.summary) = (name, summary)
    var names = NameScope(reserved: SwiftName.noProperty)
    let fields = fields.sorted { $0.key < $1.key }
    let propertyNames = fields.map { names.property($0.key) }
    // In a script without case, a type may be spelled as a property.
    var types = NameScope(
      reserved: Self.reservedTypes.union([outer, name]).union(propertyNames))
    for ((key, field), property) in zip(fields, propertyNames) {
      let (type, sample) = swift(field.type, key, outer: outer, state: state, &types)
      properties.append(
        GeneratedProperty(
          key: key, name: property, type: field.isOptionalInApp ? type + "?" : type,
          // An optional null would be nil after a round trip.
          sample: field.isOptionalInApp && field.type == .unknown ? "nil" : sample, field: field))
    }
    dates = GeneratedDate.all(of: properties, in: &names)
  }

  /// The names that a nested type must not hide.
  private static let reservedTypes: Set = [
    "Any", "Bool", "Codable", "CodingKey", "CodingKeys", "ContentState", "Date", "Decoder",
    "Double", "Encoder", "Hashable", "Int", "JSONValue", "Optional", "Protocol", "RideState",
    "Self", "Sendable", "String", "TimeInterval", "Type",
  ]

  /// Returns a type and a sample value of it; the struct of an object becomes a nested type.
  private mutating func swift(
    _ type: FieldType, _ key: String, outer: String, state: String, _ types: inout NameScope
  ) -> (type: String, sample: String) {
    switch type {
    case .string: return ("String", SwiftName.literal(SampleText.words(key)))
    case .state: return ("RideState", state)
    case .words(let words):
      let name = types.type(key)
      let source = SwiftWordEnum(
        name: name, summary: "The words of `\(SampleText.words(key))`.", words: words)
      nested.append(source.lines)
      return (name, "\(name).\(source.firstCase)")
    case .int: return ("Int", "7")
    case .double: return ("Double", "4.5")
    case .bool: return ("Bool", "true")
    case .dateEpoch: return ("Int", "Int(Date().timeIntervalSince1970) + 600")
    case .unknown: return ("JSONValue", "JSONValue.null")
    case .object(nil): return ("[String: JSONValue]", "[:]")
    case .list(nil): return ("[JSONValue]", "[]")
    case .list(let element?):
      let (type, sample) = swift(element, key + "Element", outer: outer, state: state, &types)
      return ("[\(type)]", "[\(sample)]")
    case .object(let members?):
      let name = types.type(key)
      let inner = SwiftStruct(
        name: name, summary: "`\(SampleText.words(key))` of the card.", fields: members,
        outer: outer, state: state)
      nested.append(inner.lines)
      return (name, "\(name).sample")
    }
  }

  /// The source of the struct, not indented.
  var lines: [String] {
    var parts: [[String]] = []
    if !properties.isEmpty { parts.append(properties.flatMap(Self.lines)) }
    parts += dates.map(Self.lines)
    parts.append(sampleLines)
    if properties.contains(where: { $0.key != $0.name }) { parts.append(codingKeys) }
    parts += nested
    let body = parts.joined(separator: [""]).map { $0.isEmpty ? "" : "  " + $0 }
    return ["/// \(summary)", "nonisolated struct \(name): Codable, Hashable, Sendable {"] + body
      + ["}"]
  }

  private static func lines(_ property: GeneratedProperty) -> [String] {
    let comment = property.remark.map { ["/// " + $0] } ?? []
    return comment + ["var \(SwiftName.code(property.name)): \(property.type)"]
  }

  private static func lines(_ date: GeneratedDate) -> [String] {
    let source = SwiftName.code(date.source.name)
    let name = SwiftName.code(date.name)
    let head = "/// `\(date.source.name)` as a date."
    return date.source.field.isOptionalInApp
      ? [
        head,
        "var \(name): Date? { \(source).map { Date(timeIntervalSince1970: TimeInterval($0)) } }",
      ]
      : [head, "var \(name): Date { Date(timeIntervalSince1970: TimeInterval(\(source))) }"]
  }

  private var sampleLines: [String] {
    let arguments = properties.enumerated().map { index, property in
      let comma = index == properties.count - 1 ? "" : ","
      return "    \(SwiftName.label(property.name)): \(property.sample)\(comma)"
    }
    let call = arguments.isEmpty ? ["  \(name)()"] : ["  \(name)("] + arguments + ["  )"]
    return ["/// Values for previews.", "static var sample: \(name) {"] + call + ["}"]
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
