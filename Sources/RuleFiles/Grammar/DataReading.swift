import RideCore

extension Diagnostics {
  /// Decodes the custom keys next to `aps`.
  func data(_ node: YAMLNode) -> [String: PayloadTemplate]? {
    guard case .mapping(let pairs) = node.kind else {
      reportType(of: node, for: "data", expected: "a mapping such as { ride_id: \"{{ride.id}}\" }")
      return nil
    }
    if let aps = pairs.first(where: { $0.key == "aps" }) {
      report(
        aps.keyPlace, "the key \"aps\" in data",
        expected: "custom keys only: RidePulse writes aps from the keys of alert")
    }
    return members(pairs.filter { $0.key != "aps" }, of: "data")
  }

  /// Decodes an object whose texts may contain placeholders.
  func object(_ node: YAMLNode, for key: String) -> [String: PayloadTemplate]? {
    guard case .mapping(let pairs) = node.kind else {
      reportType(of: node, for: key, expected: "a mapping such as { status: \"{{ride.state}}\" }")
      return nil
    }
    return members(pairs, of: key)
  }

  private func members(
    _ pairs: [YAMLNode.Pair], of path: String
  ) -> [String: PayloadTemplate] {
    var members: [String: PayloadTemplate] = [:]
    for pair in pairs {
      if pair.key.contains("{{") {
        report(
          pair.keyPlace, "a placeholder in a key of \(path)",
          expected: "keys that stand as they are: placeholders are filled in in values only")
      }
      members[pair.key] = value(pair.value, of: "\(path).\(shortened(pair.key))")
    }
    return members
  }

  private func value(_ node: YAMLNode, of path: String) -> PayloadTemplate? {
    switch node.kind {
    case .refused: return nil
    case .mapping(let pairs): return .object(members(pairs, of: path))
    case .sequence(let elements):
      return .array(
        elements.enumerated().compactMap { value($1, of: "\(path)[\($0)]") })
    case .scalar(let scalar):
      switch scalar.value {
      case .string: return template(node, for: path).map { .value($0) }
      case .some(let value): return .literal(value)
      case nil:
        reportType(
          of: node, for: path, expected: "a number that JSON can hold, or a text in quotes")
        return nil
      }
    }
  }
}
