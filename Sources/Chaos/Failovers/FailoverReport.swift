import Foundation
import LocalStack

/// Prints what a run with failovers shows: a line for each, then the invariants.
struct FailoverReport {
  private let evidence: Evidence
  private let failovers: [Failover]
  private let steps: [CommitLog.Step]
  private let comparison: CommitComparison
  private let replication: Replication
  private let doctor: DoctorReport
  private let announced: Int

  /// - Parameter logs: The log files of the nodes.
  init(
    _ evidence: Evidence, _ failovers: [Failover], _ steps: [CommitLog.Step],
    _ replication: Replication, _ doctor: DoctorReport, logs: [String]
  ) {
    self.evidence = evidence
    self.failovers = failovers
    self.steps = steps
    self.replication = replication
    self.doctor = doctor
    comparison = CommitComparison(
      steps, present: evidence.steps, beyond: Set(failovers.flatMap(\.transactions)))
    announced = logs.reduce(0) { count, log in
      let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
      return count + text.split(separator: "\n").count { $0.contains("failed over") }
    }
  }

  static func printProgress(_ failover: Failover, _ number: Int) {
    Console.print(
      String(
        format: "%2d  %@: writable after %.1f s, redundant after %.1f s, timeline %d", number,
        failover.kind.rawValue, failover.writableAt - failover.lostAt,
        failover.redundantAt - failover.lostAt, failover.next))
  }

  /// Prints the report; returns true if every invariant held.
  func print() -> Bool {
    printFigures()
    return ChaosReport(evidence, invariants).print()
  }

  private var invariants: [Invariant] {
    let own = [
      Invariant.ofWarnings(doctor, replication),
      Invariant.ofCommits(comparison, replication),
      Invariant.ofContents(evidence, repeated: repeatedTexts, replication),
    ]
    guard replication == .asynchronous else {
      return own + ChaosReport.invariants(of: evidence)
    }
    return own + [
      .ofEvents(evidence, isCounted: false), .ofUnrecordedPushes(evidence),
      .ofExpirations(evidence), .ofSlots(evidence), .ofTokens(evidence),
    ]
  }

  /// The texts that a producer may have sent in two transactions, as it had no answer to the first.
  private var repeatedTexts: Set<ShownText> {
    Set(
      steps.filter { $0.doubts > 0 }
        .flatMap { step in step.texts.map { ShownText(ride: step.ride, data: $0) } })
  }

  private func printFigures() {
    let accepted = Dictionary(grouping: evidence.arrivals.filter(\.isAccepted)) { $0.id }
    let repeats = accepted.values.filter { $0.count > 1 }.compactMap { $0.map(\.at).min() }
    let figures = FailoverFigures.of(
      failovers, steps: steps, lost: comparison.lost,
      verdicts: evidence.ledger.map(\.finishedAt), repeats: repeats)
    Console.print(
      "\nFailovers, in seconds since the primary was lost, and counts since the last one")
    Console.print(
      " #  kind        timeline  writable  redundant  no verdict for  commits  lost  lost in all"
        + "  verdicts  repeats")
    for (number, row) in figures.enumerated() {
      let one = row.failover
      let kind = one.kind.rawValue.padding(toLength: 10, withPad: " ", startingAt: 0)
      Console.print(
        String(
          format: "%2d  %@  %8d  %8.1f  %9.1f  %14.1f  %7d  %4d  %11d  %8d  %7d", number + 1, kind,
          one.next, one.writableAt - one.lostAt, one.redundantAt - one.lostAt, row.gap,
          row.acknowledged, row.lost, one.beyond.count, row.verdicts, row.repeats))
    }
    Console.print("lines \"failed over\" in the logs of the nodes: \(announced)")
  }
}
