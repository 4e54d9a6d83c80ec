import PostgresStore

/// That nodes decide with different rules: from when they did for long until they agree.
struct RuleDifference {
  enum Change: Equatable {
    case began([LivingState.Node])
    case ended
  }

  /// The nodes while they differ; else none.
  private(set) var nodes: [LivingState.Node] = []

  /// Returns what is to be told: nothing while a release still reaches the nodes.
  mutating func follow(_ agreement: LivingState.RuleAgreement) -> Change? {
    let before = nodes
    switch agreement {
    case .settling: return nil
    case .agree:
      nodes = []
      return before.isEmpty ? nil : .ended
    case .differ(let differing):
      nodes = differing
      return before.isEmpty ? .began(differing) : nil
    }
  }
}
