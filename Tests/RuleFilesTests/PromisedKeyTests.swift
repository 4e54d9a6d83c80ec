import RideCore
import Testing
import TestSupport

@testable import RuleFiles

/// The keys and words of rule files, stories and tests, which docs/compatibility.md promises.
@Suite struct PromisedKeyTests {
  private static let scenarios = [
    ScenarioKeys.file, ScenarioKeys.faults, ScenarioKeys.given, ScenarioKeys.ride,
    ScenarioKeys.phone, ScenarioKeys.card, ScenarioKeys.startToken, ScenarioKeys.participant,
    ScenarioKeys.preference, ScenarioKeys.contact, ScenarioKeys.step, ScenarioKeys.answer,
    ScenarioKeys.fcmAnswer, RuleTestKeys.file, RuleTestKeys.test, RuleTestKeys.never,
    RuleTestKeys.push, RuleTestKeys.screen, RuleTestKeys.headers, RuleTestKeys.rhythm,
    RuleTestKeys.silence,
  ]

  /// `cd Tests/Compatibility/0.1.0/rules && sha256sum -- *.yaml | sha256sum`
  private static let digest = "6b16f14027061073147e6dd918d0768d6f8ad9177afab3829f249393c5fd5994"

  @Test func `keys of rule files`() throws {
    var names =
      DeclaredType.allCases.map { "type of a field = \($0.rawValue)" }
      + AttributeType.named.map { "type of an attribute = \($0.name)" }
    for form in KeyDocs.forms {
      for key in form.keys {
        names.append("\(form.subject): \(key.name)" + (key.required == nil ? "" : " required"))
        if case .choice(let words) = key.form {
          names += words.map { "\(form.subject): \(key.name) = \($0)" }
        }
      }
    }
    try PromisedNames.compare(names, with: "rule-keys")
  }

  @Test func `keys of stories, tests and faults`() throws {
    let names = Self.scenarios.flatMap { form in form.names.map { "\(form.subject): \($0)" } }
    #expect(names.count > 80)
    try PromisedNames.compare(names, with: "test-keys")
  }

  /// Rule files that were valid stay so, and have the digest by which the ledger names them.
  @Test func `rule files of 0.1.0 are read, and have the digest that 0.1.0 gave them`() throws {
    let rules = try RuleDirectory.load(Project.path("Tests/Compatibility/0.1.0/rules")).get()
    #expect(rules.ruleSet.digest == Self.digest)
  }
}
