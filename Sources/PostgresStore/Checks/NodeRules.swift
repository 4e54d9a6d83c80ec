package import RideCore

// The rules of each node: what it reports, and whether the nodes agree.
extension LivingState {
  /// A node that has not claimed for longer than this may have ended.
  private static let liveWithin: Duration = .seconds(15)
  /// The time in which a release reaches one node after the other.
  package static let rollout: Duration = .seconds(60)

  /// Whether the live nodes decide with the same rules.
  package enum RuleAgreement: Hashable, Sendable {
    case agree
    /// They differ, or one has not reported its rules, and it is too early to say more.
    case settling
    /// They differ, and none of them took its own within the last minute.
    case differ([Node])
  }

  /// Returns the nodes that claimed lately.
  package static func live(_ nodes: [Node]) -> [Node] {
    nodes.filter { $0.sinceClaim <= liveWithin }
  }

  package static func ruleAgreement(of nodes: [Node]) -> RuleAgreement {
    let live = live(nodes)
    let known = live.filter { $0.rules != nil }
    if Set(known.map { [$0.rules, $0.rulesShare] }).count <= 1 {
      return known.count == live.count ? .agree : .settling
    }
    return known.allSatisfy { $0.sinceRules > rollout } ? .differ(known) : .settling
  }

  /// $1 node, $2 revision, $3 problem, $4 rules for a share of the rides.
  private static let report = Statement(
    name: "",
    sql: """
      update ridepulse.nodes set revision = $2::integer, rules_problem = $3, rules_share = $4,
        rules_since = case when (revision, rules_share) is not distinct from ($2::integer, $4)
          then rules_since else clock_timestamp() end
      where node = $1::uuid
        and (revision, rules_problem, rules_share) is distinct from ($2::integer, $3, $4)
      """)

  private static let isKnown = Statement(
    name: "", sql: "select exists (select from ridepulse.nodes where node = $1::uuid)::text")

  /// Records the rules of a node, and returns those of all nodes.
  ///
  /// - Parameters:
  ///   - share: the rules for a share of the rides, and the share.
  ///   - problem: the first problem of rule files that it refused.
  /// - Returns: Whether the node has claimed: before that it has no row.
  package static func report(
    node: String, revision: Revision, share: String?, problem: String?, _ session: PostgresSession
  ) async throws(PostgresError) -> (isKnown: Bool, nodes: [Node]) {
    let results = try await session.run([
      Call(report, [node, "\(revision.id)", problem, share]), Call(isKnown, [node]), Call(nodes),
    ])
    return (results[1].string(0, 0) == "true", nodes(results[2]))
  }
}
