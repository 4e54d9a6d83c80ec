import Base
import CEL
import RideCore

/// Invents plausible values for the attributes and event data that rules name.
///
/// A value is of the declared type of its attribute. What a rule wants to be absent (`!has(x)`) is
/// left out, unless another rule cannot do without it.
struct InventedValues {
  private let pickup: Timestamp
  private let states: Set<String>
  private let ofRide: [Use]
  private let data: [Use]

  init(rules: RuleSet, pickup: Timestamp) {
    self.pickup = pickup
    states = rules.activeStates.union(rules.finalStates)
    let ofRide = Self.invented(
      rules.rules.map { rule in
        rule.uses(by: rule.condition?.uses.attributes) {
          if case .attributes(let path) = $0 { path } else { nil }
        }
      })
    self.ofRide = ofRide.map { use in
      var use = use
      use.declared = try? rules.attributes?.type(at: use.path, of: "")
      return use
    }
    data = Self.invented(
      rules.rules.map { rule in
        rule.uses(by: rule.condition?.uses.eventData) {
          if case .eventData(let path) = $0 { path } else { nil }
        }
      })
  }

  /// Returns the attributes that the rules name: what is known of the driver, or all others.
  func attributes(ofDriver: Bool) -> [String: JSONValue] {
    values(ofRide) { Self.isOfDriver($0) == ofDriver }
  }

  /// Returns the data of every event that the rules name; IDs of people are left to the story.
  func eventData() -> [String: JSONValue] {
    values(data) { !$0.hasSuffix("_id") }
  }

  /// A value that a rule reads.
  fileprivate struct Use {
    var path: [String]
    var filters: [Filter] = []
    /// The declared type of the card's field that shows it.
    var type: FieldType?
    /// The declared type of the attribute.
    var declared: AttributeType?
    /// A value with which a condition holds, of this rule or another one.
    var fitting: JSONValue?
    var presence: CELUse.Presence?

    /// Whether a value of another type could not be shown.
    var determinesType: Bool {
      type != nil || filters.contains(where: \.isOfTime) || plausible != nil
    }

    /// A value that its filters can show, if they cannot show each; one with which a condition holds,
    /// if they can show that.
    var plausible: JSONValue? {
      for filter in filters {
        guard let value = filter.plausible(unless: defaults) else { continue }
        if let fitting, filter.shows(fitting) { return fitting }
        return value
      }
      return nil
    }

    /// What stands for a missing value.
    private var defaults: [JSONValue] {
      filters.compactMap { if case .fallback(let value) = $0 { value } else { nil } }
    }

    /// A text to show in place of a missing value; a word of a later `select` is none.
    var shownDefault: JSONValue? {
      let words = filters.flatMap { filter -> [String] in
        if case .select(let forms) = filter { forms.words } else { [] }
      }
      return defaults.first { $0 != .null && $0 != .string("") && !words.contains($0.text) }
    }
  }

  /// Returns what needs a value, of the uses of each rule.
  private static func invented(_ uses: [[Use]]) -> [Use] {
    var absent: Set<[String]> = []
    var needed: Set<[String]> = []
    for uses in uses {
      let asked = uses.filter { $0.presence != nil }.map(\.path)
      absent.formUnion(uses.filter { $0.presence == .absent }.map(\.path))
      needed.formUnion(
        uses.map(\.path).filter { path in !asked.contains { path.starts(with: $0) } })
    }
    let leftOut = absent.filter { path in !needed.contains { $0.starts(with: path) } }
    let kept = uses.flatMap(\.self)
      .filter { use in !leftOut.contains { use.path.starts(with: $0) } }
    var fitting: [[String]: JSONValue] = [:]
    for use in kept where fitting[use.path] == nil { fitting[use.path] = use.fitting }
    return kept.map { use in
      var use = use
      if use.plausible != nil { use.fitting = fitting[use.path] }
      return use
    }
  }

  private func values(
    _ uses: [Use], where isWanted: (String) -> Bool
  ) -> [String: JSONValue] {
    var values: [String: JSONValue] = [:]
    for use in uses {
      guard let key = use.path.first, isWanted(key) else { continue }
      add(use, at: use.path, to: &values)
    }
    return values
  }

  /// Adds the value of a path, unless there is one whose type is more certain.
  private func add(_ use: Use, at path: [String], to values: inout [String: JSONValue]) {
    guard let key = path.first else { return }
    let rest = path.dropFirst()
    if rest.isEmpty {
      if values[key] == nil || use.determinesType { values[key] = value(of: key, use) }
      return
    }
    var inner: [String: JSONValue] = [:]
    if case .object(let members)? = values[key] { inner = members }
    add(use, at: Array(rest), to: &inner)
    values[key] = .object(inner)
  }

  private static func isOfDriver(_ key: String) -> Bool {
    ["driver", "plate", "vehicle", "car", "eta"].contains { key == $0 || key.hasPrefix($0 + "_") }
  }

  /// Known names and their values; the rest is made from the name.
  private static let usual: [String: JSONValue] = [
    "driver_name": .string("Ana"), "customer_name": .string("Mia"), "name": .string("Ana"),
    "plate": .string("B-RP 1001"), "vehicle": .string("White Toyota Prius"),
    "car": .string("White Toyota Prius"), "pickup_address": .string("12 Canal Street"),
    "destination_address": .string("Central Station"), "address": .string("Gate B"),
    "fare": .number(14.2), "fee": .integer(5), "earning": .number(11.4),
    "refund": .number(14.2), "pin": .string("4711"), "seconds": .integer(15),
    "minutes": .integer(3), "stop": .string("8 Harbour Road"),
    "cancel_reason": .string("The car has broken down"), "currency": .string("EUR"),
  ]

  private func value(of name: String, _ use: Use) -> JSONValue {
    let value = shown(name, use)
    guard let declared = use.declared else { return value }
    if let converted = declared.fieldType.converted(value, states: states),
      declared.mismatch(of: converted, at: []) == nil
    {
      return converted
    }
    return sample(of: declared, named: name)
  }

  /// Returns a value that the field of a card shows, if one does.
  private func shown(_ name: String, _ use: Use) -> JSONValue {
    let value = untyped(name, use)
    guard let type = use.type else { return value }
    return type.converted(value, states: states) ?? sample(of: type, named: name)
  }

  private func untyped(_ name: String, _ use: Use) -> JSONValue {
    if use.filters.contains(where: \.isOfTime) { return .integer(pickup.epochSeconds) }
    if let value = use.plausible { return value }
    if let fitting = use.fitting { return fitting }
    if ["_epoch", "_at", "_time"].contains(where: name.hasSuffix) || name == "eta" {
      return .integer(pickup.epochSeconds)
    }
    if let usual = Self.usual[name] { return usual }
    if name.hasSuffix("currency") { return .string("EUR") }
    return use.shownDefault ?? .string(Self.words(name))
  }

  /// Returns a value of a declared type.
  private func sample(of type: FieldType, named name: String) -> JSONValue {
    switch type {
    case .string, .unknown: .string(Self.words(name))
    case .state: .string(states.min() ?? Self.words(name))
    case .words(let words): .string(words.first ?? "")
    case .int: .integer(3)
    case .double: .number(14.2)
    case .bool: .bool(true)
    case .dateEpoch: .integer(pickup.epochSeconds)
    case .list(let element): .array(element.map { [sample(of: $0, named: name)] } ?? [])
    case .object(let members):
      .object(
        Dictionary(
          uniqueKeysWithValues: (members ?? [:]).map { ($0, sample(of: $1.type, named: $0)) }))
    }
  }

  /// Returns a value of the declared type of an attribute, with all of its members.
  private func sample(of type: AttributeType, named name: String) -> JSONValue {
    switch type {
    case .object(let types):
      .object(Dictionary(uniqueKeysWithValues: types.map { ($0, sample(of: $1, named: $0)) }))
    case .list(let type): .array([sample(of: type, named: name)])
    case .text: Self.usual[name] ?? .string(Self.words(name))
    case .number: .integer(3)
    case .time, .flag, .words: sample(of: type.fieldType, named: name)
    }
  }

  private static func words(_ name: String) -> String {
    String(name.map { "_-".contains($0) ? " " : $0 })
  }
}

extension InventedValues.Use {
  fileprivate init(_ use: CELUse) {
    self.init(path: use.path, fitting: use.fitting, presence: use.presence)
  }
}

extension Rule {
  /// Returns the values of one source that its texts and fields show, and those that its condition
  /// reads.
  fileprivate func uses(
    by condition: [CELUse]?, _ path: (Placeholder.Source) -> [String]?
  ) -> [InventedValues.Use] {
    let shown = shownValues.compactMap { placeholder, type in
      path(placeholder.source).map {
        InventedValues.Use(path: $0, filters: placeholder.filters, type: type)
      }
    }
    return shown + (condition ?? []).map(InventedValues.Use.init)
  }
}

extension Filter {
  /// Whether its value must be a time.
  fileprivate var isOfTime: Bool {
    switch self {
    case .time, .date, .weekday, .relative, .epoch: true
    default: false
    }
  }

  /// Returns a value that it can show, if it cannot show each.
  fileprivate func plausible(unless defaults: [JSONValue]) -> JSONValue? {
    switch self {
    case .currency(_, inMinorUnits: true): .integer(1420)
    case .currency: .number(14.2)
    case .select(let forms):
      forms.words.map { .string($0) }.first { !defaults.contains($0) }
    case .plural, .int: .integer(3)
    default: nil
    }
  }

  /// Whether it can show a value with which a condition holds.
  fileprivate func shows(_ value: JSONValue) -> Bool {
    switch (self, value) {
    case (.select, .string), (.currency, .integer), (.plural, .integer), (.int, .integer),
      (.currency(_, inMinorUnits: false), .number):
      true
    default: false
    }
  }
}
