import Base
import Orchestrator
import RideCore
import Testing

@testable import RidePulse

@Suite("What /readyz answers") struct ReadinessTests {
  struct Case: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var change: @Sendable (inout Readiness) -> Void
    var problems: [String]

    init(
      _ name: String, _ problems: [String], _ change: @escaping @Sendable (inout Readiness) -> Void
    ) {
      (testDescription, self.problems, self.change) = (name, problems, change)
    }
  }

  private static let denied = StoreFailure(.refused, "42501: permission denied for table rides")
  private static let halt = SettlementHalt(
    since: Timestamp(epochSeconds: 1_800_000_000), duration: .seconds(20.5), failure: denied)
  private static let remedy =
    "nothing is lost; ridepulse doctor names what is missing, or which session is in the way"
  private static let settlement =
    "settlement has failed since 2027-01-15T08:00:00Z (20 s): "
    + "42501: permission denied for table rides; no ride is claimed or sent until it succeeds: "
    + "fix what Postgres names, nothing is lost"

  private static let cases = [
    Case("all is well", []) { _ in },
    Case("a stop comes before everything", ["stopping"]) {
      $0.isStopping = true
      $0.starting = "waiting for Postgres"
      $0.halt = halt
    },
    Case("the start", ["waiting for Postgres"]) {
      $0.starting = "waiting for Postgres"
      $0.stalls = ["claim loop stalled for 61 s"]
    },
    Case("settlements that fail", [settlement]) { $0.halt = halt },
    Case(
      "claims that fail",
      [
        "claims have failed for 16 s: 42501: permission denied for table rides; "
          + "no ride is claimed or sent, \(remedy)"
      ]
    ) { $0.failures = [CallFailure(.claim, lasting: .seconds(16.9), denied)] },
    Case(
      "calls that only some rides need",
      [
        "permits of pushes have failed for 20 s: 42501: permission denied for table rides; "
          + "rides with a limit or a shared push are not sent, \(remedy)",
        "journals of pushes have failed for 30 s: 42501: permission denied for table rides; "
          + "rides with a push that must not repeat are not sent, \(remedy)",
      ]
    ) {
      $0.failures = [
        CallFailure(.permits, lasting: .seconds(20), denied),
        CallFailure(.journal, lasting: .seconds(30), denied),
      ]
    },
    Case("a cause comes before its consequences", ["the database does not answer"]) {
      $0.isDatabaseSilent = true
      $0.failures = [CallFailure(.claim, lasting: .seconds(16), denied)]
      $0.stalls = ["claim loop stalled for 61 s"]
    },
    Case("a stall without another cause", ["claim loop stalled for 61 s"]) {
      $0.stalls = ["claim loop stalled for 61 s"]
    },
  ]

  @Test(arguments: cases) func `each problem is named in plain words`(example: Case) {
    var readiness = Readiness()
    example.change(&readiness)
    #expect(readiness.problems == example.problems)
    for text in readiness.problems { #expect(!text.contains("(microseconds:"), "\(text)") }
  }
}
