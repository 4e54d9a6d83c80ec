import Foundation
import RideCore
import Testing
import Timeline

@testable import RuleFiles

/// Limits of phones outside of tests.
@Suite struct NeverWordTests {
  /// (word, value, a part of the message)
  private static let mistakes: [(ScreenLimit.Word, String, String)] = [
    (.ringsPerRide, "many", "rings-per-ride is the text \"many\""),
    (.ringsBetween, "22-7", "two times of day such as \"22:00-07:00\""),
    (.staleCardFor, "2", "stale-card-for is the number 2"),
    (.lostBehind, "liveactivity", "which has tokens of its own"),
  ]

  @Test(arguments: mistakes.indices) func `A wrong value is named`(index: Int) {
    let (word, value, message) = Self.mistakes[index]
    guard case .failure(let problems) = NeverWords.limit(word, value, of: "--fail-on") else {
      Issue.record("no problem")
      return
    }
    #expect(problems.problems.first?.message.contains(message) == true, "\(problems)")
  }

  private func limits(_ files: [String: String]) throws -> Result<[ScreenLimit.Kind], RuleProblems>
  {
    let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    for (name, text) in files {
      try text.write(to: directory.appending(path: name), atomically: true, encoding: .utf8)
    }
    return NeverWords.limits(inTestsBelow: directory.path)
  }

  @Test func `Test files state limits, each of them once, whatever their tests are`() throws {
    let limits = try limits([
      "a.test.yaml": "never: { rings-per-ride: 4, lost-behind: background }\ntests: 5\n",
      "b.test.yaml": "never: { rings-per-ride: 4 }\n", "c.test.yaml": "tests: []\n",
      "d.yaml": "never: { rings-per-ride: 9 }\n",
    ]).get()
    #expect(limits == [.ringsPerRide(4), .lostBehind(.background)])
  }

  @Test func `A wrong limit is reported with its place`() throws {
    guard case .failure(let problems) = try limits(["a.test.yaml": "never: { rings: 4 }\n"]) else {
      Issue.record("no problem")
      return
    }
    #expect(problems.description.contains("a.test.yaml:1:10: unknown key \"rings\" in never"))
  }
}
