import Orchestrator
import PostgresStore
import RideCore

// Whether the service works, for /readyz, the service manager, metrics and callers of wake.
extension Service {
  /// The problems that prevent the service from working; each scan for due rides queries the
  /// database.
  var problems: [String] {
    var readiness = Readiness()
    readiness.isStopping = engine.isStopped
    readiness.starting = starting.problem
    readiness.halt = engine.settlementHalt
    readiness.isDatabaseSilent = sessions.both.contains { $0.isStalled() }
    readiness.pinProblems = pinProblems
    readiness.failures = engine.callFailures(lasting: Readiness.longestFailure)
    readiness.stalls = engine.stalls(after: Readiness.longestTurn)
    return readiness.problems
  }

  private var schema: SchemaName { sessions.claims.schema }

  /// Why nothing is claimed or sent although the database answers; see docs/restore.md.
  var pinProblems: [String] {
    let problems = store.pinProblems
    if problems.isEmpty { return [] }
    return problems.map { "nothing is sent: \($0)" }
      + [schema.applied(to: PinProblem.remedy(for: problems))]
  }

  /// Starts a scan for due rides at once; returns a line with their number.
  func wake() async -> String {
    if let problem = starting.problem { return "RidePulse is \(problem)" }
    engine.wake()
    let most = 1000
    guard let due = try? await store.dueRides(atMost: most) else {
      return "RidePulse is running; the database does not answer"
    }
    let rides = due > most ? "more than \(most) rides" : counted(due, "ride")
    return "RidePulse is running; \(rides) \(due == 1 ? "is" : "are") due"
  }
}
