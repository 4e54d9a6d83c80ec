extension Invariant {
  /// 2. Pushes that APNs accepted are accepted in the ledger.
  static func ofAcceptedPushes(_ evidence: Evidence) -> Invariant {
    var invariant = Invariant("2. Accepted on the wire is accepted in the ledger")
    var accepted: [String: [Arrival]] = [:]
    for arrival in evidence.arrivals where arrival.isAccepted {
      accepted[arrival.id, default: []].append(arrival)
    }
    var rows: [String: LedgerRow] = [:]
    for row in evidence.ledger { rows[row.id] = row }
    let recorded = evidence.ledger.filter { $0.status == "accepted" }
    invariant.count("accepted in the ledger", recorded.count)
    let confirmed = recorded.filter { accepted[$0.id] != nil }
    invariant.count("of these, accepted on the wire", confirmed.count, expected: recorded.count)
    invariant.none(
      "accepted, and not on the wire", recorded.filter { accepted[$0.id] == nil }.map(\.line))
    invariant.count("apns-ids accepted on the wire", accepted.count)
    let others = accepted.filter { rows[$0.key]?.status != "accepted" }
    invariant.count("of these, with another verdict or none", others.count)
    invariant.none(
      "accepted, and recorded as expired",
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
      "of these, the answer was lost, by verdict and cause",
      explained.values.reduce(0) { $0 + $1.count }, expected: others.count)
    for (name, lines) in explained.sorted(by: { $0.key < $1.key }) {
      list(name, lines.sorted())
    }
    none("answered, and not recorded as accepted", unexplained.sorted())
  }
}

/// Explains why a push may have been accepted a second time, as far as it is visible from outside.
struct RepeatCauses {
  private let incidents: [Incident]
  private let answers: LostAnswers
  /// The steps of Postgres' clock: their time, and whether they set it ahead.
  private let steps: [(at: Double, isAhead: Bool)]

  init(_ evidence: Evidence) {
    incidents = evidence.incidents.incidents
    answers = LostAnswers(evidence)
    var ahead = 0
    steps = incidents.filter { $0.kind == .clockStep }.map { step in
      let next = Int(step.detail.split(separator: " ")[1]) ?? 0
      defer { ahead = next }
      return (step.from, next > ahead)
    }
  }

  /// Returns the cause of the second acceptance; nil if there is none.
  ///
  /// A settlement may be lost with its node, may be too late after a pause or a clock step that
  /// ends the lease, or may lack an answer that was lost on the way.
  func cause(of first: Arrival, _ second: Arrival) -> String? {
    if let cause = answers.cause(of: first) { return cause }
    let between = first.at - 0.5...second.at + 0.5
    for incident in incidents {
      switch incident.kind {
      case .kill where incident.detail == first.node && between.contains(incident.from),
        .crash where incident.detail == first.node && between.contains(incident.from):
        return "the node was killed"
      case .pause where isPastLease(incident, first, second),
        .longPause where isPastLease(incident, first, second):
        return "the node was paused"
      case .restart where (first.at - 2...first.at + 5).overlaps(incident.from...incident.to):
        return "Postgres was restarted"
      case .failover where (first.at - 2...first.at + 5).overlaps(incident.from...incident.to):
        return "Postgres failed over"
      case .unpark where incident.detail == first.ride && between.contains(incident.from):
        return "the ride was refused, parked and unparked"
      default: break
      }
    }
    // A push leaves up to ten seconds after its claim, whose lease a step ahead ends. Each process of
    // Postgres adopts a step within a second: until then a process that is ahead may claim the ride
    // of one that is behind, in whichever direction the clock was set.
    let hasStep = steps.contains { step in
      step.isAhead
        ? (first.at - 10...second.at).contains(step.at)
        : (second.at - 2...second.at).contains(step.at)
    }
    return hasStep ? "Postgres' clock was set, and the lease ended" : nil
  }

  /// Returns whether a node was paused long enough for the other one to claim its ride.
  private func isPastLease(_ pause: Incident, _ first: Arrival, _ second: Arrival) -> Bool {
    // Either the first node settles too late, or the second one sends what it had already decided.
    let isOfFirst =
      pause.detail == first.node && pause.from <= second.at && pause.to >= first.at + 10
    let isOfSecond =
      pause.detail == second.node && pause.to - pause.from >= 10 && pause.from <= first.at
      && (pause.to - 1...pause.to + 15).contains(second.at)
    return isOfFirst || isOfSecond
  }

  /// Returns the incidents that delayed settlements between two times.
  func disturbances(_ from: Double, _ to: Double) -> [String] {
    let kinds = incidents.filter {
      $0.kind.disturbsSettling && ($0.from...$0.to).overlaps(from...max(from, to))
    }.map(\.kind.rawValue)
    return Set(kinds).sorted()
  }
}

extension Invariant {
  /// 6. No phone is notified twice because a settlement fails.
  static func ofRepeats(_ evidence: Evidence) -> Invariant {
    var invariant = Invariant("6. No phone is notified twice while a settlement fails")
    let causes = RepeatCauses(evidence)
    let accepted = Dictionary(grouping: evidence.arrivals.filter(\.isAccepted)) { $0.id }
    invariant.count("apns-ids accepted on the wire", accepted.count)
    let repeated = accepted.values.filter { $0.count > 1 }
    invariant.count("of these, accepted more than once", repeated.count)
    var explained: [String: [String]] = [:]
    var whileFailing: [String] = []
    var otherwise: [String] = []
    for arrivals in repeated {
      for (first, second) in zip(arrivals, arrivals.dropFirst()) {
        let line = "\(evidence.line(first)); then \(evidence.line(second))"
        if let cause = causes.cause(of: first, second) {
          explained["  \(cause)", default: []].append(line)
          continue
        }
        let disturbances = causes.disturbances(first.at, second.at)
        if disturbances.isEmpty {
          otherwise.append(line)
        } else {
          whileFailing.append(line + "; meanwhile: " + disturbances.joined(separator: ", "))
        }
      }
    }
    for (name, lines) in explained.sorted(by: { $0.key < $1.key }) {
      invariant.list(name, lines.sorted())
    }
    invariant.none("again, while a settlement failed", whileFailing.sorted())
    invariant.none("again, without a cause", otherwise.sorted())
    return invariant
  }
}

/// Explains why the answer to a push may not be recorded, as far as it is visible from outside.
struct LostAnswers {
  private let incidents: [Incident]
  private let phones: Set<String>
  /// By connection, the times of faults that discard answers not yet sent.
  private let closings: [Int: [Double]]
  /// How long after its arrival the verdict of a push may still be outstanding, in seconds.
  private static let reach = 60.0

  init(_ evidence: Evidence) {
    incidents = evidence.incidents.incidents
    phones = evidence.currentTokens
    let closing = evidence.arrivals.filter { ["close", "goaway", "no_ping"].contains($0.fault) }
    closings = Dictionary(grouping: closing) { $0.connection }.mapValues { $0.map(\.at) }
  }

  /// Returns the cause; nil if there is none.
  ///
  /// A push has no row at all only if its node ended or lost its lease: when another node decides,
  /// cards and heartbeats may have different content. An alert is sent again, except to a phone
  /// whose token was replaced.
  func cause(of arrival: Arrival, hasRow: Bool) -> String? {
    if !hasRow, arrival.pushType == "alert", phones.contains(arrival.token) { return nil }
    let isFailedOver = incidents.contains { incident in
      incident.kind == .failover && (incident.from - 5...incident.to).contains(arrival.at)
    }
    if isFailedOver { return "Postgres failed over" }
    for incident in incidents where incident.from >= arrival.at - 0.5 {
      if incident.from > arrival.at + Self.reach { break }
      switch incident.kind {
      case .kill where incident.detail == arrival.node,
        .crash where incident.detail == arrival.node:
        return "the node was killed"
      case .pause where incident.detail == arrival.node,
        .longPause where incident.detail == arrival.node:
        return "the node was paused"
      case .clockStep: return "Postgres' clock was set, and the lease may have ended"
      default: break
      }
    }
    return hasRow ? cause(of: arrival) : nil
  }

  /// Returns what happened to the answer between APNs and the node; nil if nothing did.
  func cause(of arrival: Arrival) -> String? {
    if arrival.fault == "delay" { return "the answer was delayed" }
    let isClosed = (closings[arrival.connection] ?? []).contains { at in
      (arrival.at...arrival.at + 0.5).contains(at)
    }
    return isClosed ? "the connection was closed" : nil
  }
}
