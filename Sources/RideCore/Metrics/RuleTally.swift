/// Counts verdicts by rule, for a limited number of rules: metrics keep a series for each.
package struct RuleTally: Sendable {
  /// The number of rules that are counted by their own name.
  package static let ruleLimit = 200
  /// The name of all others: further rules, those that are gone, and what no rule sends.
  package static let others = "_other"
  /// The verdicts that are counted.
  package static let statuses = LedgerEntry.Status.allCases.filter { $0 != .pending }

  /// The first is `others`.
  package private(set) var names = [others]
  /// By the position in `names`, then by that in `statuses`.
  package private(set) var counts = [Self.none]
  private var indices: [String: Int] = [:]
  private var last = 0

  private static var none: [Int] { Array(repeating: 0, count: statuses.count) }

  /// Counts these rules by their own names from now on, as far as the limit permits.
  ///
  /// Rules that are gone keep their names: a counter that moved to `others` would rise there.
  package mutating func name(_ rules: [String]) {
    for rule in rules where indices[rule] == nil {
      if indices.count >= Self.ruleLimit { return }
      indices[rule] = names.count
      names.append(rule)
      counts.append(Self.none)
    }
  }

  mutating func add(_ entry: LedgerEntry) {
    guard let status = Self.statuses.firstIndex(of: entry.status) else { return }
    // Verdicts of one rule come in a row: no hash for each.
    if names[last] != entry.rule { last = indices[entry.rule] ?? 0 }
    counts[last][status] += 1
  }
}
