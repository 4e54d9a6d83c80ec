import Foundation
import TestSupport
import Testing

@testable import RideCore
@testable import RuleFiles
@testable import Timeline

/// Faults that the shipped rules once had, in `Former`: the tests of screens that are shipped find
/// each, and nothing else in those rules.
@Suite struct FormerRulesTests {
  /// The test that finds a fault, a line of what it then reports, and the change that removes the
  /// fault.
  struct Fault: Sendable, CustomTestStringConvertible {
    let test, finding, former, cure: String

    var testDescription: String { test }
  }

  static let faults = [
    Fault(
      test: "a heartbeat does not take the place of the arrival",
      finding: "the phone was off, and a later push took its place",
      former: "expires: 5m\n    collapse: \"heartbeat-", cure: "collapse: \"heartbeat-"),
    Fault(
      test: "a card does not search on after the search has failed",
      finding: "card.status: expected \"no_driver_found\", actual \"requested\"",
      former: "no_driver_found: 10m",
      cure: "no_driver_found: { dismiss: 10m, content: { status: no_driver_found } }"),
    Fault(
      test: "an alert that is left to the card lights the screen",
      finding: "lit: expected 1, actual 0", former: "      urgent: ",
      cure: "      alerts: { driver_nearby: { title: Soon, body: Near } }\n      urgent: "),
    Fault(
      test: "the plate of a driver who has left the ride goes at once",
      finding: "card.plate: expected \"\", actual \"B-RP 1001\"",
      former: "urgent: [", cure: "urgent: [requested, "),
  ]

  /// Returns what each shipped test of screens reports about these rules, by its name; nothing of
  /// those that pass.
  private func failures(of rules: String) throws -> [String: String] {
    let path = "schedules/tests/screen.test.yaml"
    var loader = RuleTestRules.loader(rules: rules)
    let file = try loader.parse(Array(try Self.text(path).utf8), named: path).get()
    var failures: [String: String] = [:]
    for test in file.tests {
      let unmet = test.unmet(by: RuleTestRun(test, by: file.configuration), of: file.rules.ruleSet)
      guard !unmet.isEmpty else { continue }
      failures[test.name] = unmet.map { file.description(of: $0, in: test) }.joined()
    }
    return failures
  }

  private func former() throws -> String { try Self.text("Tests/RuleFilesTests/Former/rules.yaml") }

  private static func text(_ path: String) throws -> String {
    try String(contentsOfFile: Project.path(path), encoding: .utf8)
  }

  @Test func `No other test of screens fails with them`() throws {
    #expect(try Set(failures(of: former()).keys) == Set(Self.faults.map(\.test)))
  }

  @Test(arguments: faults) func `A fault fails its test, and only without its cure`(
    _ fault: Fault
  ) throws {
    let found = try #require(try failures(of: former())[fault.test])
    #expect(found.contains(fault.finding), "\(found)")
    let cured = try former().replacing(fault.former, with: fault.cure)
    let others = Self.faults.map(\.test).filter { $0 != fault.test }
    #expect(try Set(failures(of: cured).keys) == Set(others))
  }
}
