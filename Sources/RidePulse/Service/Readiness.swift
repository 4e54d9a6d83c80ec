import Orchestrator
import RideCore

/// The states of a service that decide whether it is ready: a value without I/O or clock.
struct Readiness {
  /// Whether a stop was requested.
  var isStopping = false
  /// What the start waits for; nil once it has succeeded.
  var starting: String?
  var halt: SettlementHalt?
  /// Whether a session has waited for an answer for long.
  var isDatabaseSilent = false
  /// Why the database's pin keeps the service from sending, and the remedy.
  var pinProblems: [String] = []
  /// The calls of the engine that have failed for `longestFailure`.
  var failures: [CallFailure] = []
  /// The loops of the engine that have not come round.
  var stalls: [String] = []

  /// How long calls of the engine may fail before the service is not ready: a failover of Postgres
  /// is shorter.
  static let longestFailure: Duration = .seconds(15)

  /// How long one iteration of the engine's loops may take before the service is not ready: three
  /// times the statement timeout.
  static let longestTurn: Duration = .seconds(30)

  /// What prevents the service from doing its work, causes before consequences; empty if it is
  /// ready.
  var problems: [String] {
    if isStopping { return ["stopping"] }
    if let starting { return [starting] }
    var problems = halt.map { [Self.describe($0)] } ?? []
    if isDatabaseSilent { problems.append("the database does not answer") }
    problems += pinProblems
    if problems.isEmpty { problems = failures.map(Self.describe) }
    return problems.isEmpty ? stalls : problems
  }

  private static func describe(_ halt: SettlementHalt) -> String {
    "settlement has failed since \(halt.since) (\(halt.duration.components.seconds) s): "
      + "\(halt.failure.description); "
      + "no ride is claimed or sent until it succeeds: fix what Postgres names, nothing is lost"
  }

  private static func describe(_ failing: CallFailure) -> String {
    "\(failing.call.plural) have failed for \(failing.duration.components.seconds) s: "
      + "\(failing.failure.description); \(failing.call.consequence), nothing is lost; "
      + "ridepulse doctor names what is missing, or which session is in the way"
  }
}
