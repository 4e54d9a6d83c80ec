/// Invents plausible values for the attributes and event data that rules name.
struct InventedValues {
  let rules: RuleSet
  let pickup: Timestamp

  /// Returns the attributes that the rules name: what is known of the driver, or all others.
  func attributes(ofDriver: Bool) -> [String: JSONValue] {
    var values: [String: JSONValue] = [:]
    func isWanted(_ path: [String]) -> Bool {
      path.first.map(Self.isOfDriver) == ofDriver
    }
    for placeholder in rules.placeholders {
      guard case .attributes(let path) = placeholder.source, isWanted(path) else { continue }
      add(path, placeholder.filters, to: &values)
    }
    for use in rules.rules.compactMap(\.condition).flatMap(\.uses.attributes)
    where isWanted(use.path) {
      add(use.path, fitting: use.fitting, to: &values)
    }
    return values
  }

  /// Returns the data of every event that the rules name; IDs of people are left to the story.
  func eventData() -> [String: JSONValue] {
    var values: [String: JSONValue] = [:]
    func isWanted(_ path: [String]) -> Bool {
      path.first.map { !$0.hasSuffix("_id") } ?? false
    }
    for placeholder in rules.placeholders {
      guard case .eventData(let path) = placeholder.source, isWanted(path) else { continue }
      add(path, placeholder.filters, to: &values)
    }
    for use in rules.rules.compactMap(\.condition).flatMap(\.uses.eventData)
    where isWanted(use.path) {
      add(use.path, fitting: use.fitting, to: &values)
    }
    return values
  }

  /// Adds the value of a path, unless there is one whose type is more certain.
  ///
  /// - Parameter fitting: a value with which a condition holds.
  private func add(
    _ path: [String], _ filters: [Filter] = [], fitting: JSONValue? = nil,
    to values: inout [String: JSONValue]
  ) {
    guard let key = path.first else { return }
    let rest = path.dropFirst()
    if rest.isEmpty {
      // Of two placeholders with one path, the one with a filter determines the value's type.
      if values[key] == nil || filters.contains(where: \.determinesType) {
        values[key] = value(of: key, filters, fitting)
      }
      return
    }
    var inner: [String: JSONValue] = [:]
    if case .object(let members)? = values[key] { inner = members }
    add(Array(rest), filters, fitting: fitting, to: &inner)
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
    "fare": .string("€14.20"), "fee": .string("€5.00"), "earning": .string("€11.40"),
    "refund": .string("€14.20"), "pin": .string("4711"), "seconds": .integer(15),
    "minutes": .integer(3), "stop": .string("8 Harbour Road"),
    "cancel_reason": .string("The car has broken down"), "currency": .string("EUR"),
  ]

  private func value(
    of name: String, _ filters: [Filter], _ fitting: JSONValue?
  ) -> JSONValue {
    if filters.contains(where: \.isOfTime) { return .integer(pickup.epochSeconds) }
    if let number = filters.compactMap(\.number).first { return number }
    if let fitting { return fitting }
    if ["_epoch", "_at", "_time"].contains(where: name.hasSuffix) || name == "eta" {
      return .integer(pickup.epochSeconds)
    }
    if let usual = Self.usual[name] { return usual }
    for filter in filters {
      if case .fallback(let value) = filter, value != .null, value != .string("") { return value }
    }
    let words = name.map { "_-".contains($0) ? " " : $0 }
    return .string(String(words))
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

  /// A number, if its value must be one.
  fileprivate var number: JSONValue? {
    switch self {
    case .currency: .number(14.2)
    case .plural, .int: .integer(3)
    default: nil
    }
  }

  /// Whether a value of another type could not be shown.
  fileprivate var determinesType: Bool { isOfTime || number != nil }
}
