import Foundation

/// Prints the incidents of a run and the results of its invariants.
struct ChaosReport {
  private let evidence: Evidence
  private let invariants: [Invariant]

  init(_ evidence: Evidence, _ invariants: [Invariant]) {
    self.evidence = evidence
    self.invariants = invariants
  }

  /// All that holds while the database loses nothing.
  static func invariants(of evidence: Evidence) -> [Invariant] {
    [
      .ofEvents(evidence), .ofAcceptedPushes(evidence), .ofExpirations(evidence),
      .ofCards(evidence), .ofSlots(evidence), .ofRepeats(evidence), .ofOrder(evidence),
      .ofDrivers(evidence), .ofTokens(evidence), .ofDelays(evidence), .ofDepartures(evidence),
      .ofOutages(evidence),
    ]
  }

  /// Prints the report; returns true if every invariant held.
  func print() -> Bool {
    printIncidents()
    for invariant in invariants {
      line("\n\(invariant.title)")
      for row in invariant.rows {
        self.row(row.name, row.count, expected: row.expected)
        for name in row.names.prefix(3) { line("        \(name)") }
        if row.names.count > 3 { line("        … and \(row.names.count - 3) more") }
      }
    }
    let own = evidence.incidents.violations
    let violations = own.isEmpty ? [] : [("The run", [Invariant.Violation(name: "", texts: own)])]
    return printViolations(violations + invariants.map { ($0.title, $0.violations) })
  }

  private func printViolations(_ violations: [(title: String, violations: [Invariant.Violation])])
    -> Bool
  {
    let count = violations.flatMap(\.violations).reduce(0) { $0 + $1.texts.count }
    if count == 0 {
      line("\nEvery invariant held.")
      return true
    }
    line("\nViolations: \(count)")
    for (title, violations) in violations where !violations.isEmpty {
      line("\n\(title)")
      for violation in violations {
        if !violation.name.isEmpty { line("  \(violation.name)") }
        for text in violation.texts.prefix(5) { line("  - \(text)") }
        if violation.texts.count > 5 { line("  … and \(violation.texts.count - 5) more") }
      }
    }
    return false
  }

  private func printIncidents() {
    line("\nIncidents")
    let incidents = Dictionary(grouping: evidence.incidents.incidents) { $0.kind }
    for kind in Incident.Kind.allCases { row(kind.rawValue, incidents[kind]?.count ?? 0) }
    let faults = Dictionary(grouping: evidence.arrivals) { $0.fault ?? "" }
    for (fault, struck) in faults.sorted(by: { $0.key < $1.key }) where !fault.isEmpty {
      row("pushes struck by \(fault)", struck.count)
    }
    row("rides", evidence.rides)
    row("committed events", evidence.events.count)
    let statuses = Dictionary(grouping: evidence.arrivals) { $0.status }
    row("requests beyond the last stream of a GOAWAY", evidence.arrivals.count { $0.isDisowned })
    for (status, pushes) in statuses.sorted(by: { $0.key < $1.key }) {
      row(status == 0 ? "requests without an answer" : "requests answered \(status)", pushes.count)
    }
    let verdicts = Dictionary(grouping: evidence.ledger) { $0.status }
    for (status, rows) in verdicts.sorted(by: { $0.key < $1.key }) {
      row("pushes \(status)", rows.count)
    }
  }

  private func row(_ name: String, _ count: Int, expected: Int? = nil) {
    let padded = name.padding(toLength: 62, withPad: " ", startingAt: 0)
    guard let expected else { return line("  \(padded)\(count)") }
    let value = "\(count)".padding(toLength: 8, withPad: " ", startingAt: 0)
    line("  \(padded)\(value)\(expected == count ? "= \(expected)" : "expected \(expected)  <--")")
  }

  private func line(_ text: String) { Console.print(text) }
}
