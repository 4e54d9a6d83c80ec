import Foundation
import RideCore
import TestSupport
import Testing

@testable import RuleFiles
@testable import Timeline

/// The needs that the rule language was designed by, as rules with tests: docs/needs.md lists them.
@Suite struct NeedsTests {
  /// A digest, and a clock of a person.
  private static let unmet: Set = [4, 21]
  private static let met = (1...28).filter { !unmet.contains($0) }

  /// Returns the number of a need that a rule's or a test's name begins with.
  private static func need(of name: some StringProtocol) -> Int? {
    Int(name.drop { $0 == "n" }.prefix { $0.isNumber })
  }

  @Test func `the tests of each need pass`() throws {
    #expect(try RuleTestDirectory("Needs").unmet() == [])
  }

  @Test func `each need has a case in which a rule fires, and one in which it does not`() throws {
    let tests = try RuleTestDirectory("Needs").tests
    for need in Self.met {
      let own = tests.filter { Self.need(of: $0.name) == need }
      let counts = own.map { Self.pushes(of: need, in: $0) }
      let most = counts.max() ?? 0
      #expect(most > 0, "need \(need) never fires")
      let isSpared = own.contains { $0.notSent.contains { Self.need(of: $0.rule) == need } }
      #expect(isSpared || counts.contains { $0 < most }, "need \(need) always fires")
    }
  }

  /// Returns how many pushes and events of a need's rules a test expects.
  private static func pushes(of need: Int, in test: RuleTest) -> Int {
    switch test.then {
    case .pushes(let pushes, _): pushes.count { Self.need(of: $0.rule) == need }
    case .rhythm(let rhythm): rhythm.count ?? 0
    case nil: 0
    }
  }

  @Test func `the page lists each need with the lines of its rules`() throws {
    let rules = try String(
      contentsOfFile: Project.path("Tests/RuleFilesTests/Needs/rules.yaml"), encoding: .utf8)
    let page = try String(contentsOfFile: Project.path("docs/needs.md"), encoding: .utf8)
    var lines: [Int: String] = [:]
    for block in rules.components(separatedBy: "\n\n") {
      guard let start = block.range(of: "  # ")?.upperBound else { continue }
      let need = try #require(Self.need(of: block[start...]), "\(block)")
      let own = block[start...].split(separator: "\n").dropFirst()
      lines[need] = String(own.count)
    }
    for need in Self.unmet { lines[need] = "–" }
    var listed: [Int: String] = [:]
    for row in page.split(separator: "\n") {
      let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      if cells.count > 4, let need = Int(cells[0]) { listed[need] = cells[3] }
    }
    #expect(listed.count == 28 && listed == lines)
  }
}
