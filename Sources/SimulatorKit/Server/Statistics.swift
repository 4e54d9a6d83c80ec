/// The counts that `GET /simulator/stats` returns.
package struct Statistics: Equatable, Sendable {
  package private(set) var requests = 0
  package private(set) var byStatus: [Int: Int] = [:]
  package private(set) var byReason: [String: Int] = [:]
  package private(set) var accepted = 0
  package var connectionsOpen = 0
  package var connectionsTotal = 0

  package init() {}

  /// Counts a request of sink mode; a dictionary would cost too much there.
  package mutating func countAcceptance() {
    requests += 1
    accepted += 1
  }

  /// - Parameter status: Zero if a fault left the request without an answer.
  package mutating func count(status: Int, reason: String?) {
    requests += 1
    if status == 200 { accepted += 1 } else { byStatus[status, default: 0] += 1 }
    if let reason { byReason[reason, default: 0] += 1 }
  }

  package var json: JSON {
    var statuses = byStatus.map { (String($0), JSON.integer($1)) }
    statuses.append(("200", .integer(accepted)))
    return .object([
      "requests": .integer(requests),
      "status": .object(Dictionary(uniqueKeysWithValues: statuses)),
      "reason": .object(byReason.mapValues { .integer($0) }),
      "connections": .object([
        "open": .integer(connectionsOpen), "total": .integer(connectionsTotal),
      ]),
    ])
  }
}
