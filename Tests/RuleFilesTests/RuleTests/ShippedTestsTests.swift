import Foundation
import TestSupport
import Testing

@testable import RideCore
@testable import Timeline
@testable import RuleFiles

/// The tests that the shipped rules bring along.
///
/// With `RECORD_GOLDEN=1` those that expect nothing are completed; read the diff before you commit
/// it.
@Suite struct ShippedTestsTests {
  private static func load(allowsIncomplete: Bool = false) throws -> [RuleTestFile] {
    var loader = RuleTestLoader(
      override: nil, standard: ScheduleTests.directory, allowsIncomplete: allowsIncomplete)
    let paths = try RuleTestLoader.files(at: ScheduleTests.directory).get()
    return try paths.map { try loader.load($0).get() }
  }

  @Test func `They pass, and exercise every rule in every language`() throws {
    var coverage: RuleCoverage?
    let files = try Self.load()
    #expect(files.count >= 3)
    for file in files {
      for test in file.tests {
        let run = RuleTestRun(test, by: file.configuration)
        let unmet = test.unmet(by: run, of: file.rules.ruleSet)
        #expect(unmet.map { file.description(of: $0, in: test) } == [])
        if coverage == nil { coverage = RuleCoverage(of: file.rules.ruleSet) }
        coverage?.add(run, of: test)
      }
    }
    let sections = try #require(coverage).sections
    for name in ["rules fired", "locales", "states", "card phases"] {
      let section = try #require(sections.first { $0.name == name })
      #expect(section.missing == [], "\(name)")
    }
  }

  @Test(.enabled(if: Golden.isRecording)) func recorded() throws {
    for file in try Self.load(allowsIncomplete: true) {
      guard let result = try RuleTestUpdate(file).result() else { continue }
      try Data(result.bytes).write(to: URL(fileURLWithPath: file.path))
    }
  }
}
