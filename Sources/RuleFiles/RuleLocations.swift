package import Base
package import RideCore

/// Where the keys of each rule are written.
struct RuleLocations: Sendable {
  private var entries: [String: (file: String, node: YAMLNode)] = [:]

  /// - Parameter entry: the rule as its file has it, without what defaults add.
  mutating func add(_ rule: String, _ entry: YAMLNode, file: String) {
    if entries[rule] == nil { entries[rule] = (file, entry) }
  }

  /// Returns the location of a rule, or of a key of it; nil if the rule does not state that.
  fileprivate func location(of path: [String], in rule: String) -> FileLocation? {
    guard let (file, entry) = entries[rule] else { return nil }
    var node = entry
    var location = entry.location
    for key in path {
      guard let pair = node.pairs.first(where: { $0.key == key }) else { return nil }
      (node, location) = (pair.value, pair.keyLocation)
    }
    return FileLocation(file, location)
  }
}

extension LoadedRules {
  /// The warnings of `check`, each at its place.
  ///
  /// - Parameter hasFCM: whether the service has settings of FCM.
  package func lints(hasFCM: Bool) -> [RuleLint] {
    let lints = RuleLint.all(about: ruleSet, hasFCM: hasFCM).map { lint in
      var lint = lint
      guard let rule = lint.rule else { return lint }
      let key = locations.location(of: lint.path, in: rule)
      if let key, !lint.path.isEmpty { lint.source = key.description }
      lint.fileLocation = key ?? locations.location(of: [], in: rule)
      return lint
    }
    return lints + translationLints
  }

  /// Returns the location of a rule; nil if there is no such rule.
  package func fileLocation(ofRule name: String) -> FileLocation? {
    locations.location(of: [], in: name)
  }
}
