extension Invariant {
  /// 2. Pushes that APNs accepted are accepted in the ledger.
  static func ofWire(_ evidence: Evidence) -> Invariant {
    var invariant = Invariant("2. Accepted on the wire is accepted in the ledger")
    var accepted: [String: [Arrival]] = [:]
    for arrival in evidence.arrivals where arrival.isAccepted {
      accepted[arrival.id, default: []].append(arrival)
    }
    var rows: [String: LedgerRow] = [:]
    for row in evidence.ledger { rows[row.id] = row }
    let noted = evidence.ledger.filter { $0.status == "accepted" }
    invariant.count("accepted in the ledger", noted.count)
    let confirmed = noted.filter { accepted[$0.id] != nil }
    invariant.count("of these, accepted on the wire", confirmed.count, expected: noted.count)
    invariant.none(
      "accepted, and not on the wire", noted.filter { accepted[$0.id] == nil }.map(\.line))
    invariant.count("apns-ids accepted on the wire", accepted.count)
    let others = accepted.filter { rows[$0.key]?.status != "accepted" }
    invariant.count("of these, the ledger says otherwise or nothing", others.count)
    invariant.none(
      "accepted, and called expired",
      others.keys.compactMap { rows[$0] }.filter { $0.status == "expired" }.map(\.line).sorted())
    invariant.split(others, rows, evidence)
    return invariant
  }

  /// Groups accepted pushes with another verdict by that verdict and by the cause of the lost
  /// answer.
  private mutating func split(
    _ others: [String: [Arrival]], _ rows: [String: LedgerRow], _ evidence: Evidence
  ) {
    let answers = LostAnswers(evidence)
    var explained: [String: [String]] = [:]
    var unexplained: [String] = []
    for (id, arrivals) in others {
      let row = rows[id]
      let line =
        (row?.line ?? "no row") + "; " + arrivals.map { evidence.line($0) }.joined(separator: "; ")
      let causes = arrivals.lazy.compactMap { answers.cause(of: $0, hasRow: row != nil) }
      if let cause = causes.first {
        explained["  \(row?.status ?? "no row"): \(cause)", default: []].append(line)
      } else {
        unexplained.append(line)
      }
    }
    count(
      "of these, the answer was lost, by the ledger's word and cause",
      explained.values.reduce(0) { $0 + $1.count }, expected: others.count)
    for (name, lines) in explained.sorted(by: { $0.key < $1.key }) {
      self.name(name, lines.sorted())
    }
    none("answered, and the ledger does not say so", unexplained.sorted())
  }
}
