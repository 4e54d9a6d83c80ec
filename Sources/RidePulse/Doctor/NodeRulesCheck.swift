import Base
import PostgresStore

/// Judges the rules that the nodes report: whether one refused its files, and whether they differ.
enum NodeRulesCheck {
  static func results(_ nodes: [LivingState.Node]) -> [CheckResult] {
    let disagreeing = LivingState.disagreeing(nodes)
    return nodes.compactMap(refusal)
      + (disagreeing.isEmpty
        ? []
        : [
          .warning(
            "rules of nodes", "they decide with different rules: \(disagreeing.rulesText)",
            "deploy the same files to each node, then send SIGHUP or POST /v1/reload to each; "
              + "ridepulse check prints the digest of a directory")
        ])
  }

  private static func refusal(_ node: LivingState.Node) -> CheckResult? {
    node.rulesProblem.map { problem in
      .warning(
        "rules of \(node.host)",
        "it refused its rule files and decides with \([node].rulesText): \(problem)",
        "fix the file on \(node.host); there, ridepulse check names all problems; then send SIGHUP "
          + "to the service, or POST /v1/reload")
    }
  }
}
