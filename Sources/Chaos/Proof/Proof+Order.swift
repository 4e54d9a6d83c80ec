extension Proof {
  /// 7. One phone's pushes about one ride arrive in the order of the ride's events.
  static func ofOrder(_ evidence: Evidence) -> Proof {
    var proof = Proof("7. One phone's pushes of one ride arrive in order")
    var rows: [String: LedgerRow] = [:]
    for row in evidence.ledger where row.eventID != nil { rows[row.id] = row }
    var order = PushOrder(evidence)
    for arrival in evidence.arrivals where arrival.pushType == "alert" {
      if let row = rows[arrival.id], let event = row.eventID {
        order.add(arrival, of: row, event: event)
      }
    }
    proof.count("phones of rides", order.phoneCount)
    proof.count("pushes accepted, each counted once", order.accepted)
    proof.none("older after newer, of one collapse ID", order.replaced.sorted())
    proof.none("older after newer", order.disordered.sorted())
    proof.name("older after newer, refused before and tried again", order.retried.sorted())
    let superseded = evidence.ledger.filter { $0.status == "superseded" }
    proof.count("pushes superseded", superseded.count)
    proof.none("superseded, and arrived after their successor", order.resurrected.sorted())
    return proof
  }
}

/// Goes through pushes in the order of their arrival, and finds those that are older than what their
/// phone has received already.
struct PushOrder {
  private struct Phone: Hashable {
    let ride: String
    let token: String
  }

  private struct Screen: Hashable {
    let phone: Phone
    let collapseID: String
  }

  private let evidence: Evidence
  /// The newest event of which a phone has received a push, and that push.
  private var newest: [Phone: (event: Int64, arrival: Arrival)] = [:]
  private var newestOnScreen: [Screen: (event: Int64, arrival: Arrival)] = [:]
  /// When each push was first refused, or left without an answer.
  private var refused: [String: Double] = [:]
  private var seen: Set<String> = []
  private(set) var accepted = 0
  /// Findings: an older push took the place of a newer one.
  private(set) var replaced: [String] = []
  /// Findings: an older push came after a newer one, without a reason.
  private(set) var disordered: [String] = []
  /// An older push came after a newer one, because APNs had not taken it the first time.
  private(set) var retried: [String] = []
  /// Findings: a push that the ledger calls superseded arrived after the push that replaces it.
  private(set) var resurrected: [String] = []

  var phoneCount: Int { newest.count }

  init(_ evidence: Evidence) {
    self.evidence = evidence
  }

  mutating func add(_ arrival: Arrival, of row: LedgerRow, event: Int64) {
    let phone = Phone(ride: row.ride, token: arrival.token)
    let screen = Screen(phone: phone, collapseID: row.collapseID ?? row.id)
    let successor = newestOnScreen[screen].flatMap { $0.event > event ? $0.arrival : nil }
    if row.status == "superseded", let successor {
      resurrected.append(line(arrival, after: successor, row))
    }
    guard arrival.isAccepted else {
      if refused[arrival.id] == nil { refused[arrival.id] = arrival.at }
      return
    }
    guard seen.insert(arrival.id).inserted else { return }
    accepted += 1
    if let successor {
      replaced.append(line(arrival, after: successor, row))
    } else if let newer = newest[phone], newer.event > event {
      let text = line(arrival, after: newer.arrival, row)
      // Holding back all that is newer would let one refused push stop a phone for minutes.
      if let at = refused[arrival.id], at <= newer.arrival.at {
        retried.append(text)
      } else {
        disordered.append(text)
      }
    }
    if newest[phone].map({ $0.event < event }) ?? true { newest[phone] = (event, arrival) }
    if newestOnScreen[screen].map({ $0.event < event }) ?? true {
      newestOnScreen[screen] = (event, arrival)
    }
  }

  private func line(_ arrival: Arrival, after newer: Arrival, _ row: LedgerRow) -> String {
    "\(row.line); \(evidence.line(arrival)), after \(evidence.line(newer))"
  }
}
