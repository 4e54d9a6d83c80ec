import RideCore

/// One class of the generated Kotlin: properties, dates, decoding and sample values.
struct KotlinClass {
  /// What all classes of a card share.
  struct Scope {
    /// The name of the attributes-type.
    var outer: String
    /// A state in Kotlin, for samples.
    var state: String
  }

  private let name: String
  private let summary: String
  private let scope: Scope
  /// `internal ` before a class of the file that is not public.
  private let modifier: String
  /// Whether it has samples of each state: it is the card's content, and a field of it is the state.
  private let hasStates: Bool
  private var properties: [GeneratedProperty] = []
  private var dates: [GeneratedDate] = []
  /// The lines of types within this one.
  var nested: [[String]] = []

  init(
    name: String, summary: String, modifier: String = "", fields: [String: CardField],
    _ scope: Scope, hasStates: Bool = false
  ) {
    (self.name, self.summary, self.scope) = (name, summary, scope)
    self.modifier = modifier
    self.hasStates = hasStates && fields.values.contains { $0.type == .state }
    var names = NameScope(reserved: KotlinName.noProperty)
    let fields = fields.sorted { $0.key < $1.key }
    let propertyNames = fields.map { names.property($0.key) }
    // In a script without case, a type may be spelled as a property.
    let uncased = propertyNames.filter { $0.first?.isLowercase == false }
    var types = NameScope(
      reserved: KotlinName.types.union([scope.outer, name]).union(uncased), ignoresCase: true)
    for ((key, field), name) in zip(fields, propertyNames) {
      let (type, sample, reader) = kotlin(field.type, key, &types)
      let isOptional = field.isOptionalInApp && field.type != .unknown
      properties.append(
        GeneratedProperty(
          key: key, name: name, type: isOptional ? type + "?" : type, sample: sample,
          field: field, reader: reader))
    }
    dates = GeneratedDate.all(of: properties, in: &names)
  }

  /// Returns a type, a sample value of it, and what reads it; an object becomes a nested class.
  private mutating func kotlin(
    _ type: FieldType, _ key: String, _ types: inout NameScope
  ) -> (type: String, sample: String, reader: String) {
    switch type {
    case .string: return ("String", KotlinName.literal(SampleText.words(key)), "::cardString")
    case .state: return ("RideState", scope.state, "cardWord(RideState.Companion::of)")
    case .words(let words):
      let name = KotlinName.code(types.type(key))
      let comment = KotlinName.comment(SampleText.words(key))
      let source = KotlinWords(name: name, summary: "The words of `\(comment)`.", words: words)
      nested.append(source.lines)
      return (name, "\(name).\(source.firstCase)", "cardWord(\(name).Companion::of)")
    case .int: return ("Long", "7", "::cardLong")
    case .double: return ("Double", "4.5", "::cardDouble")
    case .bool: return ("Boolean", "true", "::cardBoolean")
    case .dateEpoch: return ("Long", SampleTime.literal, "::cardLong")
    case .unknown: return ("Any?", "null", "::cardAny")
    case .object(nil): return ("Map<String, Any?>", "emptyMap()", "::cardMap")
    case .list(nil): return ("List<Any?>", "emptyList()", "cardList(::cardAny)")
    case .list(let element?):
      let (type, sample, reader) = kotlin(element, key + "Element", &types)
      return ("List<\(type)>", "listOf(\(sample))", "cardList(\(reader))")
    case .object(let members?):
      let name = KotlinName.code(types.type(key))
      let comment = KotlinName.comment(SampleText.words(key))
      let inner = KotlinClass(
        name: name, summary: "`\(comment)` of the card.", fields: members, scope)
      nested.append(inner.lines)
      return (name, "\(name).sample", "cardObject(\(name).Companion::of)")
    }
  }

}

// The source.
extension KotlinClass {
  /// The source of the class, not indented.
  var lines: [String] {
    let parts = dates.map(Self.lines) + (properties.isEmpty ? [Self.equality(name)] : [])
    let body = (parts + [companion] + nested).joined(separator: [""])
    let fields = properties.enumerated().flatMap { index, property in
      Self.lines(property, isLast: index == properties.count - 1)
    }
    let head =
      properties.isEmpty
      ? ["\(modifier)class \(name) {"]
      : ["\(modifier)data class \(name)("] + fields.map { "  " + $0 } + [") {"]
    return ["/** \(summary) */"] + head + body.map { $0.isEmpty ? "" : "  " + $0 } + ["}"]
  }

  private static func lines(_ property: GeneratedProperty, isLast: Bool) -> [String] {
    let comment = property.remark.map { ["/** \($0) */"] } ?? []
    return comment + ["val \(property.code): \(property.type)\(isLast ? "" : ",")"]
  }

  private static func lines(_ date: GeneratedDate) -> [String] {
    let (name, source) = (KotlinName.code(date.name), date.source.code)
    let isOptional = date.source.field.isOptionalInApp
    let value = isOptional ? "\(source)?.let { Date(it * 1000) }" : "Date(\(source) * 1000)"
    return [
      "/** `\(date.source.name)` as a date. */",
      "val \(name): Date\(isOptional ? "?" : "")", "  get() = \(value)",
    ]
  }

  /// A data class has at least one property.
  private static func equality(_ name: String) -> [String] {
    [
      "override fun equals(other: Any?): Boolean = other is \(name)", "",
      "override fun hashCode(): Int = 0",
    ]
  }

  private var companion: [String] {
    let suppression = properties.isEmpty ? ["@Suppress(\"UNUSED_PARAMETER\")"] : []
    let body =
      samples + [
        "",
        "/** Throws a JSONException that names the first field that is missing or of another type. */",
      ] + suppression + ["fun of(json: JSONObject, at: String = \"\"): \(name) ="]
      + call("  ") { property in
        let function = property.field.isOptionalInApp ? "cardOptional" : "cardField"
        return "\(function)(json, \(KotlinName.literal(property.key)), at, \(property.reader))"
      }
    return ["companion object {"] + body.map { $0.isEmpty ? "" : "  " + $0 } + ["}"]
  }

  private var samples: [String] {
    let head = ["/** Values for previews and snapshot tests, the same each time. */"]
    if !hasStates {
      return head + ["val sample: \(name)"] + call("  get() = ") { $0.sample }
    }
    return head + [
      "val sample: \(name)", "  get() = sample(\(scope.state))", "",
      "/** The sample in another state of the ride. */",
      "fun sample(state: RideState): \(name) =",
    ] + call("  ") { $0.field.type == .state ? "state" : $0.sample } + [
      "", "/** The sample in each state, in the order of `RideState.known`. */",
      "val samples: List<\(name)>", "  get() = RideState.known.map { sample(it) }",
    ]
  }

  /// Returns a call of the constructor, with a value for each property.
  private func call(_ start: String, _ value: (GeneratedProperty) -> String) -> [String] {
    if properties.isEmpty { return ["\(start)\(name)()"] }
    let arguments = properties.enumerated().map { index, property in
      "    \(property.code) = \(value(property))\(index == properties.count - 1 ? "" : ",")"
    }
    return ["\(start)\(name)("] + arguments + ["  )"]
  }
}

extension GeneratedProperty {
  fileprivate var code: String { KotlinName.code(name) }
}
