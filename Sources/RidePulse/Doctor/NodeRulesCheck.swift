import Base
import PostgresStore

/// Judges the rules that the nodes report: whether one refused its files, and whether they differ.
enum NodeRulesCheck {
  static func results(_ nodes: [LivingState.Node]) -> [CheckResult] {
    LivingState.live(nodes).compactMap(refusal) + difference(LivingState.ruleAgreement(of: nodes))
  }

  private static func difference(_ agreement: LivingState.RuleAgreement) -> [CheckResult] {
    guard case .differ(let nodes) = agreement else { return [] }
    return [
      .warning(
        "rules of nodes", "they decide with different rules: \(nodes.rulesText)",
        "deploy the same files to each node, then send SIGHUP or POST /v1/reload to each; "
          + "ridepulse check prints the digest of a directory")
    ]
  }

  private static func refusal(_ node: LivingState.Node) -> CheckResult? {
    node.rulesProblem.map { problem in
      .warning(
        "rules of \(node.host)",
        "it refused its rule files and decides with the rules of \([node].rulesText): \(problem)",
        "fix the file on \(node.host); there, ridepulse check names all problems; then send SIGHUP "
          + "to the service, or POST /v1/reload")
    }
  }
}
