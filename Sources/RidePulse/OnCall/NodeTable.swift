import Base
import PostgresStore
import RideCore

/// The nodes of a service as a table.
struct NodeTable {
  let nodes: [LivingState.Node]

  var text: String {
    if nodes.isEmpty { return "no node has claimed rides for 10 minutes" }
    let head = ["node", "host", "version", "rules", "up for", "last claim", "state"]
    let rows = [head] + nodes.map(\.cells)
    let widths = head.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      zip(row, widths).map { padded($0, to: $1) }.joined(separator: "  ")
        .trimmingSuffix(while: { $0 == " " })
    }.joined(separator: "\n")
  }
}

extension LivingState.Node {
  /// What it does, as far as the database shows.
  private var state: String {
    if sinceClaim > LivingCheck.longSilence { return "silent" }
    if reach == .lost { return "no way to APNs or FCM" }
    return isAsleep ? "sleeping" : "claiming"
  }

  private var rulesCell: String {
    let digest = rules.map { String($0.prefix(Revision.startLength)) } ?? "-"
    return rulesShare.map { "\(digest), \($0)" } ?? digest
  }

  fileprivate var cells: [String] {
    [
      String(id.prefix(8)), host, version ?? "-", rulesCell, age.rideText,
      "\(sinceClaim.rideText) ago", state,
    ].map { Escape.line($0) }
  }

  var json: JSONValue {
    .object([
      "node": .string(id), "host": .string(host), "version": .orNull(version),
      "rules": .orNull(rules), "rules_share": .orNull(rulesShare),
      "rules_problem": .orNull(rulesProblem), "up_seconds": .integer(age.components.seconds),
      "claim_age_seconds": .integer(sinceClaim.components.seconds), "state": .string(state),
      "reaches_services": reach.map { .bool($0 == .reached) } ?? .null,
    ])
  }
}

extension String {
  fileprivate func trimmingSuffix(while isTrimmed: (Character) -> Bool) -> String {
    var rest = self[...]
    while let last = rest.last, isTrimmed(last) { rest.removeLast() }
    return String(rest)
  }
}
