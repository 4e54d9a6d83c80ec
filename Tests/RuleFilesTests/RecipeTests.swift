import Foundation
import RideCore
import TestSupport
import Testing

@testable import RuleFiles

/// Verifies that the rules of docs/recipes.md are valid and send what their tests expect, and that the
/// tests which the page names exist.
@Suite struct RecipeTests {
  private static let folder = Project.path("Tests/RuleFilesTests/Recipes")

  private static func page() throws -> String {
    try String(contentsOfFile: Project.path("docs/recipes.md"), encoding: .utf8)
  }

  /// The blocks of YAML, each of them a list of rules.
  private static func blocks() throws -> [String] {
    try page().components(separatedBy: "```yaml\n").dropFirst().compactMap {
      $0.components(separatedBy: "```").first
    }
  }

  /// Writes the page's rules and their service to a rule directory.
  private static func write(to directory: String) throws {
    let lines = try blocks().flatMap { $0.split(separator: "\n") }.map { "  \($0)\n" }
    let service = try String(contentsOfFile: folder + "/service.yaml", encoding: .utf8)
    let files = [
      "service.yaml": service, "recipes.yaml": "rules:\n" + lines.joined(),
      "strings/en.yaml": "arrived: Your driver is here\n",
    ]
    try FileManager.default.createDirectory(
      atPath: directory + "/strings", withIntermediateDirectories: true)
    for (name, text) in files {
      try text.write(toFile: "\(directory)/\(name)", atomically: false, encoding: .utf8)
    }
  }

  @Test func `every recipe is a valid rule`() throws {
    let blocks = try Self.blocks()
    #expect(blocks.count > 25)
    try ScratchFolder.with { directory in
      try Self.write(to: directory)
      switch RuleDirectory.load(directory) {
      case .success(let loaded): #expect(loaded.ruleCount >= blocks.count)
      case .failure(let found): Issue.record("\(found.problems.map(\.description))")
      }
    }
  }

  @Test func `the recipes send what their tests expect`() throws {
    try ScratchFolder.with { directory in
      try Self.write(to: directory)
      let tests = try RuleTestDirectory("Recipes", rules: directory)
      #expect(tests.tests.count >= 14)
      #expect(tests.unmet() == [])
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
