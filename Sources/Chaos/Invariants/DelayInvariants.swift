import Base
import RideCore

extension Invariant {
  /// 10. A ride that ends its node delays any other ride once.
  ///
  /// Delays are compared only if no other fault of the run causes them.
  static func ofDelays(_ evidence: Evidence) -> Invariant {
    var invariant = Invariant("10. A ride that ends its node delays others once")
    let incidents = evidence.incidents.incidents
    let poisoned = incidents.filter { $0.kind == .poisonedRide }
    let crashes = incidents.count { $0.kind == .crash }
    invariant.count("rides that crash or stall their decision", poisoned.count)
    invariant.count("nodes that ended because of them", crashes)
    // The third claim that does not survive is the last one.
    let most = 3 * evidence.incidents.poisonedRides
    invariant.none(
      "ends of nodes without such a ride", crashes > most ? ["\(crashes), at most \(most)"] : [])
    let others = Set(incidents.map(\.kind).filter { $0.delaysOthers || $0 == .outage })
    let late = Delays(evidence)
    invariant.count("rides with a push later than \(Delays.limit.rideText)", late.byRide.count)
    if others.isEmpty {
      invariant.none("late without such a ride", late.withoutCause(poisoned))
      invariant.none("late for a second time because of one ride", late.repeated(poisoned))
    } else {
      let names = others.map(\.rawValue).sorted().joined(separator: ", ")
      invariant.list("delays are not compared, because of", [names])
    }
    return invariant
  }

  /// 11. A phone receives nothing for the owner that it left.
  static func ofDepartures(_ evidence: Evidence) -> Invariant {
    var invariant = Invariant("11. A phone receives nothing for an owner that it left")
    let departures = evidence.incidents.departures
    invariant.count("sign-outs and handovers", departures.count)
    let arrivals = Dictionary(grouping: evidence.arrivals) { $0.token }
    let late = departures.flatMap { departure in
      (arrivals[departure.token] ?? []).filter { arrival in
        arrival.customer == departure.owner && arrival.at > departure.at + reach
      }
    }
    // A push is handed to its stream at most a second after the phone was read; a node that was
    // paused in between can't know.
    let paused = late.filter { !evidence.pauses(endedBefore: $0.at).isEmpty }
    invariant.list("after more than 2 s, by a node that was paused", paused.map(evidence.line))
    invariant.none(
      "after more than 2 s",
      late.filter { evidence.pauses(endedBefore: $0.at).isEmpty }.map(evidence.line))
    return invariant
  }

  /// How long after the transaction a push may still arrive, in seconds.
  private static let reach = 2.0
}

/// Pushes of the fleet's events that ended late.
private struct Delays {
  static let limit = Duration.seconds(5)
  /// A claim that did not survive is repeated when its lease of 20 s has ended.
  private static let lease = 25.0

  /// Late rows by ride, in the order of their events.
  let byRide: [String: [LedgerRow]]

  init(_ evidence: Evidence) {
    // The rides of single faults have a name with a hyphen; a card waits for its interval.
    let late = evidence.ledger.filter { row in
      row.eventID != nil && row.pushType != "liveactivity" && !row.ride.contains("-")
        && row.finishedAt - row.occurredAt > Double(Self.limit.components.seconds)
    }
    byRide = Dictionary(grouping: late) { $0.ride }
      .mapValues { $0.sorted { $0.occurredAt < $1.occurredAt } }
  }

  func withoutCause(_ poisoned: [Incident]) -> [String] {
    byRide.values.joined().filter { row in !poisoned.contains { Self.covers($0, row) } }
      .map(Self.line).sorted()
  }

  /// Returns the rides that one poisoned ride has made late again after they had caught up.
  func repeated(_ poisoned: [Incident]) -> [String] {
    poisoned.flatMap { incident in
      byRide.values.compactMap { rows in
        let rows = rows.filter { Self.covers(incident, $0) }
        guard let first = rows.first else { return nil }
        var end = first.finishedAt
        for row in rows.dropFirst() {
          if row.occurredAt > end { return "\(Self.line(first)); then \(Self.line(row))" }
          end = max(end, row.finishedAt)
        }
        return nil
      }
    }.sorted()
  }

  private static func covers(_ incident: Incident, _ row: LedgerRow) -> Bool {
    (incident.from - lease...incident.to + lease).contains(row.occurredAt)
  }

  private static func line(_ row: LedgerRow) -> String {
    "\((row.finishedAt - row.occurredAt).rounded()) s: \(row.line)"
  }
}
