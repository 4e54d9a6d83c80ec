import Testing
import TestSupport

@testable import CEL
@testable import RideCore

/// The words of the ledger and of conditions that docs/compatibility.md promises.
@Suite struct PromisedWordTests {
  @Test func `the variables and own functions of conditions`() throws {
    let environment = Condition.environment
    let names =
      environment.variables.map { "\($0.path.joined(separator: ".")) \($0.type)" }
      + environment.functions.map { "\($0.name)(\($0.parameters)) \($0.result)" }
    let plain = names.map { $0.replacing("CEL.CELType.", with: "") }
    try PromisedNames.compare(plain, with: "cel-variables")
  }

  @Test func `the words of deliveries`() throws {
    let names =
      LedgerEntry.Kind.allCases.map { "kind = \($0.rawValue)" }
      + LedgerEntry.Status.allCases.map { "status = \($0.rawValue)" }
      + LedgerReason.Engine.allCases.map { "reason_code = \($0.rawValue)" }
      + Platform.allCases.map { "platform = \($0.rawValue)" }
    try PromisedNames.compare(names, with: "deliveries")
  }

  @Test func `the filters of placeholders`() throws {
    try PromisedNames.compare(Filter.names, with: "filters")
  }
}
