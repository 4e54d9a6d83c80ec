/// The counts that `GET /simulator/stats` returns.
struct Statistics: Equatable, Sendable {
  private(set) var requests = 0
  private(set) var byStatus: [Int: Int] = [:]
  private(set) var byReason: [String: Int] = [:]
  private(set) var accepted = 0
  var connectionsOpen = 0
  var connectionsTotal = 0

  /// Counts a push of sink mode; a dictionary would cost too much there.
  mutating func countAcceptance() {
    requests += 1
    accepted += 1
  }

  /// - Parameter status: Zero if a fault left the push without an answer.
  mutating func count(status: Int, reason: String?) {
    requests += 1
    if status == 200 { accepted += 1 } else { byStatus[status, default: 0] += 1 }
    if let reason { byReason[reason, default: 0] += 1 }
  }

  var json: JSON {
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
