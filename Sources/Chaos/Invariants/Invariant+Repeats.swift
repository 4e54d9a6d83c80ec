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
    if let cause = answers.wireCause(of: first) { return cause }
    let between = first.at - 0.5...second.at + 0.5
    for incident in incidents {
      switch incident.kind {
      case .kill where incident.detail == first.node && between.contains(incident.from):
        return "the node was killed"
      case .pause where isPastLease(incident, first, second),
        .longPause where isPastLease(incident, first, second):
        return "the node was asleep"
      case .restart where (first.at - 2...first.at + 5).overlaps(incident.from...incident.to):
        return "Postgres was restarted"
      case .unpark where incident.detail == first.ride && between.contains(incident.from):
        return "the ride was refused, parked and unparked"
      default: break
      }
    }
    // Each process of Postgres sees a step within a second: until then a process that is ahead may
    // claim the ride of one that is behind, in whichever direction the clock was set.
    let hasStep = steps.contains { step in
      step.isAhead
        ? (first.at - 2...second.at).contains(step.at)
        : (second.at - 2...second.at).contains(step.at)
    }
    return hasStep ? "Postgres' clock was set, and the lease ended" : nil
  }

  /// Returns whether a node was paused long enough for the other one to claim its ride.
  private func isPastLease(_ sleep: Incident, _ first: Arrival, _ second: Arrival) -> Bool {
    // Either the first node settles too late, or the second one sends what it had already decided.
    let isOfFirst =
      sleep.detail == first.node && sleep.from <= second.at && sleep.to >= first.at + 10
    let isOfSecond =
      sleep.detail == second.node && sleep.to - sleep.from >= 10 && sleep.from <= first.at
      && (sleep.to - 1...sleep.to + 15).contains(second.at)
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
      invariant.name(name, lines.sorted())
    }
    invariant.none("again, while a settlement failed", whileFailing.sorted())
    invariant.none("again, without a cause", otherwise.sorted())
    return invariant
  }
}
