import Foundation
import RideCore

/// One promise of the service: counts with their expected values, and violations.
struct Invariant {
  struct Row {
    let name: String
    let count: Int
    /// The expected count; nil if any number is allowed.
    let expected: Int?
    /// The items that were counted.
    var names: [String] = []
  }

  /// The violations of one row, under its name.
  struct Violation {
    let name: String
    let texts: [String]
  }

  let title: String
  private(set) var rows: [Row] = []
  private(set) var violations: [Violation] = []

  init(_ title: String) {
    self.title = title
  }

  /// Adds a count; it is a violation if it differs from the expected one.
  mutating func count(_ name: String, _ count: Int, expected: Int? = nil) {
    rows.append(Row(name: name, count: count, expected: expected))
    if let expected, count != expected {
      violations.append(Violation(name: name, texts: ["\(count) and not \(expected)"]))
    }
  }

  /// Adds items that are allowed, and lists them.
  mutating func list(_ name: String, _ named: [String]) {
    rows.append(Row(name: name, count: named.count, expected: nil, names: named))
  }

  /// Adds items that must not exist: each one is a violation.
  mutating func none(_ name: String, _ found: [String]) {
    rows.append(Row(name: name, count: found.count, expected: 0))
    if !found.isEmpty { violations.append(Violation(name: name, texts: found)) }
  }
}

extension Invariant {
  /// 1. Every committed event has its verdict.
  ///
  /// - Parameter isCounted: whether the producers' steps made as many events as they intended; a
  ///   step that finds its ride as it was before a failover makes fewer.
  static func ofEvents(_ evidence: Evidence, isCounted: Bool = true) -> Invariant {
    var invariant = Invariant("1. Every committed event has its verdict")
    let own = evidence.events.values.count {
      InternalEvent(rawValue: $0.name) == nil && !$0.ride.hasPrefix(Booking.prefix)
    }
    invariant.count(
      "events that the producers committed", own, expected: isCounted ? evidence.stepped : nil)
    let matched = evidence.events.filter { ChaosRules.matchedEvents.contains($0.value.name) }
    let verdicts = Set(evidence.ledger.compactMap(\.eventID))
    invariant.count("of these, a rule matches", matched.count)
    let missing = matched.filter { !verdicts.contains($0.key) }.sorted { $0.key < $1.key }
    invariant.count(
      "of these, with a row in the ledger", matched.count - missing.count, expected: matched.count)
    invariant.none(
      "without a verdict", missing.map { "event \($0.key), \($0.value.name) of \($0.value.ride)" })
    invariant.count("unconsumed at the end", evidence.unconsumed, expected: 0)
    invariant.none(
      "pending at the end", evidence.ledger.filter { $0.status == "pending" }.map(\.line))
    let unknown = evidence.ledger.filter { row in
      row.event == ChaosRules.rolledBackEvent
        || row.eventID.map { evidence.events[$0] == nil } ?? false
    }
    invariant.none("rows of events that never committed", unknown.map(\.line))
    return invariant
  }

  /// 3. No push arrived after its expiration.
  static func ofExpirations(_ evidence: Evidence) -> Invariant {
    var invariant = Invariant("3. No push arrived after its apns-expiration")
    let bounded = evidence.arrivals.filter { $0.expiration != 0 }
    invariant.count("pushes with an expiration", bounded.count)
    var openings: [Int: Double] = [:]
    for arrival in evidence.arrivals where openings[arrival.connection] == nil {
      openings[arrival.connection] = arrival.at
    }
    var late: [String: [String]] = ["": [], " on a new connection": [], " after a pause": []]
    for arrival in bounded.sorted(by: { $0.lateness > $1.lateness }) where arrival.lateness > 1 {
      let pauses = evidence.pauses(endedBefore: arrival.at)
      let isNew = openings[arrival.connection].map { arrival.at < $0 + 0.5 } ?? false
      late[pauses.isEmpty ? isNew ? " on a new connection" : "" : " after a pause"]?.append(
        String(format: "%.2f s: ", arrival.lateness) + evidence.line(arrival) + pauses)
    }
    for (what, pushes) in late.sorted(by: { $0.key < $1.key }) {
      invariant.none("more than 1 s too late\(what)", pushes)
    }
    return invariant
  }

  /// 5. Each slot has exactly one outcome.
  static func ofSlots(_ evidence: Evidence) -> Invariant {
    var invariant = Invariant("5. Each slot has one outcome")
    for (rule, counts) in evidence.slots {
      let names = ["fired", "skipped", "missed", "capped", "expired"]
      let outcomes = zip(names, counts.dropFirst()).filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }
      invariant.count("slots of \(rule): \(outcomes.joined(separator: ", "))", Int(counts[0]))
      invariant.count("remainder of \(rule)", Int(counts[6]), expected: 0)
    }
    return invariant
  }
}
