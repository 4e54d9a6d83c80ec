import Foundation
import RideCore
import TestSupport
import Testing

@testable import RuleFiles

/// Verifies that the rules of docs/recipes.md are valid, and that the tests which it names exist.
@Suite struct RecipeTests {
  private static func page() throws -> String {
    try String(contentsOfFile: Project.path("docs/recipes.md"), encoding: .utf8)
  }

  /// The blocks of YAML, each of them a list of rules.
  private static func blocks() throws -> [String] {
    try page().components(separatedBy: "```yaml\n").dropFirst().compactMap {
      $0.components(separatedBy: "```").first
    }
  }

  private static let service = """
    states:
      active: [scheduled, requested, driver_assigned, driver_en_route, driver_arrived, ride_started]
      final: [ride_completed, cancelled_by_customer, cancelled_by_driver, cancelled_by_system, no_show]
    events: [ride_offer, offer_revoked, chat_message, offer_unseen, driver_lost, document_expires]
    defaults: { locale: en }

    """

  @Test func `every recipe is a valid rule`() throws {
    let blocks = try Self.blocks()
    #expect(blocks.count > 20)
    let lines = blocks.flatMap { $0.split(separator: "\n") }.map { "  \($0)\n" }
    let rules = Self.service + "rules:\n" + lines.joined()
    let texts = "arrived: Your driver is here\n"
    let found = RuleDirectory.parse(
      files: [("recipes.yaml", Array(rules.utf8))],
      strings: [("strings/en.yaml", Array(texts.utf8))])
    switch found {
    case .success(let loaded): #expect(loaded.ruleCount >= blocks.count)
    case .failure(let found): Issue.record("\(found.problems.map(\.description))")
    }
  }

  @Test func `every test that the page names exists`() throws {
    let rows = try Self.page().split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
    let names = rows.compactMap { $0.split(separator: "`").dropFirst().first.map(String.init) }
    #expect(names.count == rows.count && names.count > 10)
    let tests = try FileManager.default.subpathsOfDirectory(atPath: Project.path("Tests"))
      .filter { $0.hasSuffix(".swift") }
      .map { try String(contentsOfFile: Project.path("Tests/\($0)"), encoding: .utf8) }
    for name in names {
      #expect(tests.contains { $0.contains("\(name)`") }, "no test has the name \(name)")
    }
  }
}
