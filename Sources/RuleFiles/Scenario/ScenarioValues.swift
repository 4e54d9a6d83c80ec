import Base
import RideCore

// The values of a story: texts, times and JSON.

extension YAMLNode {
  /// The node as JSON; nil if part of it was refused.
  var json: JSONValue? {
    switch kind {
    case .refused: return nil
    case .scalar(let scalar): return scalar.value
    case .sequence(let nodes):
      let values = nodes.compactMap(\.json)
      return values.count == nodes.count ? .array(values) : nil
    case .mapping(let pairs):
      var members: [String: JSONValue] = [:]
      for pair in pairs {
        guard let value = pair.value.json else { return nil }
        members[pair.key] = value
      }
      return .object(members)
    }
  }
}

extension ValueType where Value == String {
  /// A text; a number counts as its digits, because IDs and tokens may look like one.
  static var plainText: Self {
    Self(.text(expected: "a text")) { field in
      if case .scalar(let scalar) = field.node.kind, scalar.value != .null, !scalar.text.isEmpty {
        return scalar.text
      }
      return field.refused("a text")
    }
  }

  static var zoneName: Self {
    ValueType<ZoneTimes>(.zoneName, NodeDecoder.zoneName).map(\.identifier)
  }
}

extension ValueType where Value == OwnerID {
  static var owner: Self { ValueType<String>.plainText.map { OwnerID($0) } }
}

extension ValueType where Value == InstallationID {
  static var installation: Self { ValueType<String>.plainText.map { InstallationID($0) } }
}

extension ValueType where Value == Timestamp {
  static var instant: Self {
    Self(.rideTime) {
      $0.node.string.flatMap(CivilTime.instant(iso:))
        ?? $0.refused("a time such as 2026-11-21T08:00:00Z")
    }
  }

  /// A duration after the start, or a time.
  static func time(from start: Timestamp) -> Self {
    Self(.rideTime) { field in
      let text = field.node.string ?? ""
      let duration = text == "0s" ? .zero : Duration(rideText: text)
      return duration.map { start + $0 } ?? CivilTime.instant(iso: text)
        ?? field.refused(
          "a duration after the start such as 10m, or a time such as 2026-11-21T08:00:00Z")
    }
  }
}

extension ValueType where Value == [String: JSONValue] {
  static var members: Self {
    Self(.payload()) {
      if case .object(let members)? = $0.node.json { return members }
      return $0.refused("a mapping of keys to values")
    }
  }
}

extension ValueType {
  /// The same, or null.
  var orNull: ValueType<Value?> {
    ValueType<Value?>(form) { field in
      if case .scalar(let scalar) = field.node.kind, scalar.value == .null { return .some(nil) }
      return read(field).map { .some($0) }
    }
  }
}
