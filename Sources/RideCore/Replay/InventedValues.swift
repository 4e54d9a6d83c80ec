/// Invents plausible values for the attributes and event data that rules name.
struct InventedValues {
  let rules: RuleSet
  let pickup: Timestamp

  /// Returns the attributes that the rules name: what is known of the driver, or all others.
  func attributes(ofDriver: Bool) -> [String: JSONValue] {
    var values: [String: JSONValue] = [:]
    for placeholder in rules.placeholders {
      guard case .attributes(let path) = placeholder.source, let key = path.first else { continue }
      if Self.isOfDriver(key) != ofDriver { continue }
      add(placeholder, path, to: &values)
    }
    return values
  }

  /// Returns the data of every event that the rules name; IDs of people are left to the story.
  func eventData() -> [String: JSONValue] {
    var values: [String: JSONValue] = [:]
    for placeholder in rules.placeholders {
      guard case .eventData(let path) = placeholder.source, let key = path.first,
        !key.hasSuffix("_id")
      else { continue }
      add(placeholder, path, to: &values)
    }
    return values
  }

  private func add(
    _ placeholder: Placeholder, _ path: [String], to values: inout [String: JSONValue]
  ) {
    guard let key = path.first, let name = path.last else { return }
    let rest = path.dropFirst()
    if rest.isEmpty {
      // Of two placeholders with one path, the one with a filter determines the value's type.
      if values[key] == nil || placeholder.filters.contains(where: \.isOfTime) {
        values[key] = value(of: name, placeholder)
      }
      return
    }
    var inner: [String: JSONValue] = [:]
    if case .object(let members)? = values[key] { inner = members }
    add(placeholder, Array(rest), to: &inner)
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

  private func value(of name: String, _ placeholder: Placeholder) -> JSONValue {
    let isTime =
      ["_epoch", "_at", "_time"].contains(where: name.hasSuffix) || name == "eta"
      || placeholder.filters.contains(where: \.isOfTime)
    if isTime { return .integer(pickup.epochSeconds) }
    if let usual = Self.usual[name] { return usual }
    for filter in placeholder.filters {
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
    case .time, .date, .epoch: true
    default: false
    }
  }
}
