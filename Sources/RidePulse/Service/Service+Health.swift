import Orchestrator
import PostgresStore
import RideCore

// Whether the service works, for /readyz, the service manager and metrics.
extension Service {
  /// The problems that prevent the service from working; each scan for due rides queries the
  /// database.
  var problems: [String] {
    if let problem = starting.problem { return [problem] }
    var problems = engine.settlementHalt.map { [Self.describe($0)] } ?? []
    if sessions.both.contains(where: { $0.isStalled() }) {
      problems.append("the database does not answer")
    }
    problems += pinProblems
    if problems.isEmpty, let failure = engine.claimFailure(lasting: Self.longestClaimFailure) {
      problems.append(Self.describe(failure))
    }
    return problems.isEmpty ? engine.stalls(after: Self.longestTurn) : problems
  }

  /// Why nothing is claimed or sent although the database answers; see docs/restore.md.
  var pinProblems: [String] {
    let problems = store.pinProblems
    if problems.isEmpty { return [] }
    return problems.map { "nothing is sent: \($0)" }
      + [Database.named(PinProblem.remedy(for: problems))]
  }

  private static func describe(_ halt: SettlementHalt) -> String {
    "settlement has failed since \(halt.since) (\(halt.duration.components.seconds) s): "
      + "\(halt.failure.description); "
      + "no ride is claimed or sent until it succeeds: fix what Postgres names, nothing is lost"
  }

  private static func describe(_ failing: ClaimFailure) -> String {
    "claims have failed for \(failing.duration.components.seconds) s: "
      + "\(failing.failure.description); no ride is claimed or sent, nothing is lost; "
      + "ridepulse doctor names what is missing, or which session is in the way"
  }

  /// How long claims may fail before the service reports not ready: a failover of Postgres is
  /// shorter.
  static let longestClaimFailure: Duration = .seconds(15)

  /// How long one iteration of the engine's loops may take before the service reports not ready:
  /// three times the statement timeout.
  static let longestTurn: Duration = .seconds(30)
}
