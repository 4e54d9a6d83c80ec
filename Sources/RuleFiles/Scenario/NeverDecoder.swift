import Base
import RideCore
import Timeline

/// Decodes `never`: what no test of a file may show on any phone.
enum NeverDecoder {
  static func limits(_ fields: Fields) -> [ScreenLimit] {
    var limits: [ScreenLimit] = []
    func add<Value>(
      _ name: String, _ type: ValueType<Value>, _ kind: (Value) -> ScreenLimit.Kind
    ) {
      guard let value = fields.value(name, type) else { return }
      limits.append(ScreenLimit(kind(value), location: fields.location(of: name)))
    }
    let count = ValueType.integer(0...1_000_000)
    add("rings-between", hours) { .ringsBetween($0.from, $0.to) }
    add("rings-per-ride", count) { .ringsPerRide($0) }
    add("time-sensitive-per-ride", count) { .timeSensitivePerRide($0) }
    add("stale-card-for", .duration(such: "2m")) { .staleCardFor($0) }
    add("lost-behind", storedType) { .lostBehind($0) }
    return limits
  }

  /// The types that share an alert's token, and with it the only place at APNs.
  private static let stored: [PushType] = [.alert, .background]

  private static var storedType: ValueType<PushType> {
    let words = stored.map(\.rawValue)
    return ValueType(.choice(words)) { field in
      let type = field.node.string.flatMap(PushType.init)
      if let type, stored.contains(type) { return type }
      guard let type else { return field.refused(alternatives(words), among: words) }
      field.diagnostics.report(
        field.node.location,
        "\(field.name) is \(type.rawValue), which has tokens of its own and takes no alert's place",
        expected: alternatives(words))
      return nil
    }
  }

  private typealias Hours = (from: QuietHours.TimeOfDay, to: QuietHours.TimeOfDay)

  private static var hours: ValueType<Hours> {
    ValueType(.text(expected: "two times of day")) { field in
      let parts = (field.node.string ?? "")
        .split(separator: "-", omittingEmptySubsequences: false)
        .map { QuietHours.TimeOfDay(text: String($0)) }
      if parts.count == 2, let from = parts[0], let to = parts[1], from != to { return (from, to) }
      return field.refused("two times of day such as \"22:00-07:00\"")
    }
  }
}
