extension Invariant {
  /// 7. Each phone receives the pushes of one ride in the order of the ride's events.
  static func ofOrder(_ evidence: Evidence) -> Invariant {
    var invariant = Invariant("7. One phone's pushes of one ride arrive in order")
    var rows: [String: LedgerRow] = [:]
    for row in evidence.ledger where row.eventID != nil { rows[row.id] = row }
    var order = PushOrder(evidence)
    for arrival in evidence.arrivals {
      order.recordRefusal(arrival)
      guard arrival.pushType == "alert", let row = rows[arrival.id], let event = row.eventID
      else { continue }
      order.add(arrival, of: row, event: event)
    }
    invariant.count("phones of rides", order.phoneCount)
    invariant.count("pushes accepted, each counted once", order.accepted)
    for verdict in PushOrder.Verdict.allCases {
      let found = (order.found[verdict] ?? []).sorted()
      let name = "older after newer\(verdict.rawValue)"
      if verdict.isViolation { invariant.none(name, found) } else { invariant.list(name, found) }
    }
    let superseded = evidence.ledger.filter { $0.status == "superseded" }
    invariant.count("pushes superseded", superseded.count)
    invariant.none("superseded, and arrived after their successor", order.resurrected.sorted())
    return invariant
  }
}

/// Scans pushes in the order of their arrival for those that are older than one the phone has
/// already received.
struct PushOrder {
  /// Why an older push arrived after a newer one.
  enum Verdict: String, CaseIterable {
    case sameCollapseID = ", of one collapse ID"
    case unexplained = ""
    // Allowed: if all newer pushes were held back, one push could block a phone for minutes.
    case refused = ": refused before, and tried again"
    case paused = ": its app's pushes were refused in numbers, and paused"
    case held = ": a card was to show it, and did not"

    var isViolation: Bool { self == .sameCollapseID || self == .unexplained }
  }

  private struct Phone: Hashable {
    let ride: String
    let token: String
  }

  private struct Card: Hashable {
    let ride: String
    let app: String
  }

  private struct Screen: Hashable {
    let phone: Phone
    let collapseID: String
  }

  private let evidence: Evidence
  /// The rows of cards, by ride and app.
  private let cards: [Card: [LedgerRow]]
  /// The newest event whose push a phone has received, with that push.
  private var newest: [Phone: (event: Int64, arrival: Arrival)] = [:]
  private var newestOnScreen: [Screen: (event: Int64, arrival: Arrival)] = [:]
  /// The time at which each push was first refused or left without an answer.
  private var refused: [String: Double] = [:]
  /// The times at which pushes were refused or left without an answer, by bundle ID; rising.
  private var refusals: [String: [Double]] = [:]
  private var seen: Set<String> = []
  private(set) var accepted = 0
  private(set) var found: [Verdict: [String]] = [:]
  /// Violations: a push that the ledger marks superseded arrived after the push that replaces it.
  private(set) var resurrected: [String] = []

  var phoneCount: Int { newest.count }

  init(_ evidence: Evidence) {
    self.evidence = evidence
    cards = Dictionary(grouping: evidence.ledger.filter { $0.rule == "card" }) {
      Card(ride: $0.ride, app: $0.app)
    }
  }

  mutating func recordRefusal(_ arrival: Arrival) {
    if arrival.isAccepted { return }
    refusals[arrival.bundleID, default: []].append(arrival.at)
    if refused[arrival.id] == nil { refused[arrival.id] = arrival.at }
  }

  /// Adds an alert; alerts must be added in the order of their arrival.
  mutating func add(_ arrival: Arrival, of row: LedgerRow, event: Int64) {
    let phone = Phone(ride: row.ride, token: arrival.token)
    let screen = Screen(phone: phone, collapseID: arrival.collapseID)
    let successor = newestOnScreen[screen].flatMap { $0.event > event ? $0.arrival : nil }
    if row.status == "superseded", let successor {
      resurrected.append(line(arrival, after: successor, row))
    }
    guard arrival.isAccepted, seen.insert(arrival.id).inserted else { return }
    accepted += 1
    if let successor {
      found[.sameCollapseID, default: []].append(line(arrival, after: successor, row))
    } else if let newer = newest[phone], newer.event > event {
      let verdict = verdict(arrival, row, event, after: newer.arrival)
      found[verdict, default: []].append(line(arrival, after: newer.arrival, row))
    }
    if newest[phone].map({ $0.event < event }) ?? true { newest[phone] = (event, arrival) }
    if newestOnScreen[screen].map({ $0.event < event }) ?? true {
      newestOnScreen[screen] = (event, arrival)
    }
  }

  private func verdict(
    _ arrival: Arrival, _ row: LedgerRow, _ event: Int64, after newer: Arrival
  ) -> Verdict {
    if let at = refused[arrival.id], at <= newer.at { return .refused }
    if wasHeld(row, event) { return .held }
    return wasPaused(arrival.bundleID, before: newer.at) ? .paused : .unexplained
  }

  /// Returns whether an alert waited for a card of its app: one of its own event, or an earlier one
  /// that was still being sent again when the event came, and was to show it too.
  private func wasHeld(_ row: LedgerRow, _ event: Int64) -> Bool {
    (cards[Card(ride: row.ride, app: row.app)] ?? []).contains { card in
      guard let shown = card.eventID else { return false }
      let wasRetried = card.attempts > 1 || card.status == "uncertain"
      return shown == event || shown < event && wasRetried && card.finishedAt >= row.occurredAt
    }
  }

  /// Returns whether a node may have paused an app's pushes: at least 15 failed in the last ten
  /// seconds.
  private func wasPaused(_ bundleID: String, before time: Double) -> Bool {
    let recent = (refusals[bundleID] ?? []).reversed().lazy
      .drop { $0 > time }.prefix { $0 > time - 10 }
    return recent.count >= 15
  }

  private func line(_ arrival: Arrival, after newer: Arrival, _ row: LedgerRow) -> String {
    "\(row.line); \(evidence.line(arrival)), after \(evidence.line(newer))"
  }
}
