extension Invariant {
  /// 7. Each phone receives the pushes of one ride in the order of the ride's events.
  static func ofOrder(_ evidence: Evidence) -> Invariant {
    var invariant = Invariant("7. One phone's pushes of one ride arrive in order")
    var rows: [String: LedgerRow] = [:]
    for row in evidence.ledger where row.eventID != nil { rows[row.id] = row }
    var order = PushOrder(evidence)
    for arrival in evidence.arrivals {
      order.noteRefusal(arrival)
      guard arrival.pushType == "alert", let row = rows[arrival.id], let event = row.eventID
      else { continue }
      order.add(arrival, of: row, event: event)
    }
    invariant.count("phones of rides", order.phoneCount)
    invariant.count("pushes accepted, each counted once", order.accepted)
    for verdict in PushOrder.Verdict.allCases {
      let found = (order.found[verdict] ?? []).sorted()
      let name = "older after newer\(verdict.rawValue)"
      if verdict.isFinding { invariant.none(name, found) } else { invariant.name(name, found) }
    }
    let superseded = evidence.ledger.filter { $0.status == "superseded" }
    invariant.count("pushes superseded", superseded.count)
    invariant.none("superseded, and arrived after their successor", order.resurrected.sorted())
    return invariant
  }
}
