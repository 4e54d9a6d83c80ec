import Base
import RideCore

/// Decodes the values of a story: texts, times, lists and JSON.
struct ScenarioValues {
  let diagnostics: Diagnostics

  /// Returns the entries of a list.
  func list(_ field: Field) -> [YAMLNode] {
    if case .sequence(let nodes) = field.node.kind { return nodes }
    diagnostics.reportType(of: field.node, for: field.name, expected: "a list of mappings")
    return []
  }

  /// Decodes a text; a number counts as its digits, because IDs and tokens may look like one.
  func text(_ field: Field) -> String? {
    if case .scalar(let scalar) = field.node.kind, scalar.value != .null, !scalar.text.isEmpty {
      return scalar.text
    }
    diagnostics.reportType(of: field.node, for: field.name, expected: "a text")
    return nil
  }

  /// Decodes a text; nil for null.
  func nullable(_ field: Field) -> String? {
    if case .scalar(let scalar) = field.node.kind, scalar.value == .null { return nil }
    return text(field)
  }

  /// Decodes the same, or null.
  func nullableTime(_ field: Field, from start: Timestamp) -> Timestamp?? {
    if case .scalar(let scalar) = field.node.kind, scalar.value == .null { return .some(nil) }
    return time(field, from: start).map { .some($0) }
  }

  /// Decodes a duration after the start, or a time.
  func time(_ field: Field, from start: Timestamp) -> Timestamp? {
    if let text = field.node.string {
      if text == "0s" { return start }
      if let duration = Duration(rideText: text) { return start + duration }
      if let instant = CivilTime.instant(iso: text) { return instant }
    }
    diagnostics.reportType(
      of: field.node, for: field.name,
      expected: "a duration after the start such as 10m, or a time such as 2026-11-21T08:00:00Z")
    return nil
  }

  /// Returns a value as JSON; nil if part of it was refused.
  func json(_ node: YAMLNode) -> JSONValue? {
    switch node.kind {
    case .refused: return nil
    case .scalar(let scalar): return scalar.value
    case .sequence(let nodes):
      let values = nodes.compactMap(json)
      return values.count == nodes.count ? .array(values) : nil
    case .mapping(let pairs):
      var members: [String: JSONValue] = [:]
      for pair in pairs {
        guard let value = json(pair.value) else { return nil }
        members[pair.key] = value
      }
      return .object(members)
    }
  }
}
