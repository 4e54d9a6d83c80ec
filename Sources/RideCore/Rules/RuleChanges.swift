/// How rules differ from those before them, by the names of rules.
package struct RuleChanges: Hashable, Sendable {
  package private(set) var added: [String] = []
  package private(set) var removed: [String] = []
  package private(set) var changed: [String] = []
  /// The keys of the files beside `rules` that differ, such as `states`.
  package private(set) var others: [String] = []

  /// Compares what rules mean: neither their order and lines, nor comments.
  package init(from old: RuleSet, to new: RuleSet) {
    let before = Dictionary(old.rules.map { ($0.name, $0) }) { first, _ in first }
    let after = Dictionary(new.rules.map { ($0.name, $0) }) { first, _ in first }
    added = after.keys.filter { before[$0] == nil }.sorted()
    removed = before.keys.filter { after[$0] == nil }.sorted()
    changed =
      before.filter { name, rule in after[name].map { !$0.means(rule) } ?? false }.keys.sorted()
    if old.activeStates != new.activeStates || old.finalStates != new.finalStates {
      others.append("states")
    }
    if old.events != new.events { others.append("events") }
    if old.attributes != new.attributes { others.append("attributes") }
    if old.defaults != new.defaults { others.append("defaults") }
  }

  /// Returns the changes without those of rules of these names.
  package func leavingOut(_ names: Set<String>) -> RuleChanges {
    var rest = self
    rest.added.removeAll(where: names.contains)
    rest.removed.removeAll(where: names.contains)
    rest.changed.removeAll(where: names.contains)
    return rest
  }

  package var isEmpty: Bool {
    added.isEmpty && removed.isEmpty && changed.isEmpty && others.isEmpty
  }

  /// The names by what happened to them, without what did not happen.
  package var groups: [(word: String, names: [String])] {
    [
      ("added", added), ("removed", removed), ("changed", changed), ("also changed", others),
    ].filter { !$0.names.isEmpty }
  }
}

extension Rule {
  /// Whether another rule is the same, wherever it is defined.
  fileprivate func means(_ other: Rule) -> Bool {
    var other = other
    other.source = source
    return self == other
  }
}
