import TestSupport
import Testing

@testable import RuleFiles

/// Every message of the loader, word for word, because people read them.
@Suite struct MessageTests {
  @Test(arguments: GoldenCase.all(in: "yaml.txt"))
  func whatIsNoYAML(row: GoldenCase) {
    #expect(problems(in: row.input) == row.expected)
  }

  @Test(arguments: GoldenCase.all(in: "file.txt"))
  func statesEventsAndRules(row: GoldenCase) {
    #expect(problems(in: row.input) == row.expected)
  }

  @Test(arguments: GoldenCase.all(in: "rule.txt"))
  func oneRule(row: GoldenCase) {
    #expect(problems(in: ruleFile(changing: row.input)) == row.expected)
  }

  @Test(arguments: GoldenCase.all(in: "alert.txt"))
  func oneAlert(row: GoldenCase) {
    #expect(problems(in: ruleFile(changing: row.input)) == row.expected)
  }

  @Test(arguments: GoldenCase.all(in: "card.txt"))
  func oneCard(row: GoldenCase) {
    #expect(problems(in: ruleFile(changing: row.input)) == row.expected)
  }

  @Test(arguments: GoldenCase.all(in: "android.txt"))
  func oneRuleForAndroid(row: GoldenCase) {
    #expect(problems(in: ruleFile(changing: row.input)) == row.expected)
  }

  @Test func theRuleThatTheRowsChangeIsGood() {
    #expect(problems(in: ruleFile()) == [])
  }

  @Test(.enabled(if: Golden.isRecording))
  func recorded() throws {
    for file in ["yaml.txt", "file.txt"] { try GoldenCase.record(file) { $0.input } }
    try GoldenCase.record("strings.txt", messages: StringsTests.messages)
    for file in ["rule.txt", "alert.txt", "card.txt", "android.txt"] {
      try GoldenCase.record(file) { ruleFile(changing: $0.input) }
    }
  }
}
