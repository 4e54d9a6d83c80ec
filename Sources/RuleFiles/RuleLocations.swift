package import RideCore

/// Where the keys of each rule are written.
struct RuleLocations: Sendable {
  private var entries: [String: (file: String, node: YAMLNode)] = [:]

  /// - Parameter entry: the rule as its file has it, without what defaults add.
  mutating func add(_ rule: String, _ entry: YAMLNode, file: String) {
    if entries[rule] == nil { entries[rule] = (file, entry) }
  }

  /// Returns the place of a rule's key, such as `schedules/driver.yaml:12:7`; nil if the rule does not
  /// state it.
  fileprivate func source(of path: [String], in rule: String) -> String? {
    guard let (file, entry) = entries[rule], !path.isEmpty else { return nil }
    var node = entry
    var location = entry.location
    for key in path {
      guard let pair = node.pairs.first(where: { $0.key == key }) else { return nil }
      (node, location) = (pair.value, pair.keyLocation)
    }
    return "\(file):\(location)"
  }
}

extension LoadedRules {
  /// The warnings of `check`, each at its place.
  ///
  /// - Parameter hasFCM: whether the service has settings of FCM.
  package func lints(hasFCM: Bool) -> [RuleLint] {
    let lints = RuleLint.all(about: ruleSet, hasFCM: hasFCM).map { lint in
      var lint = lint
      if let rule = lint.rule, let source = locations.source(of: lint.path, in: rule) {
        lint.source = source
      }
      return lint
    }
    return lints + translationLints
  }
}
