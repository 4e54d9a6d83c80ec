import Foundation
import RideCore
import Testing

@testable import RuleFiles

@Suite("What differs between two sets of rule files") struct RuleChangesTests {
  private static let arrived =
    "{ name: arrived, app: customer, on: driver_arrived, expires: 1m, alert: { title: Here } }"
  private static let beat =
    "{ name: beat, app: driver, every: 20m, while: [requested], background: {} }"

  private static func file(_ rules: String..., also text: String = "") -> String {
    text + "rules:\n" + rules.map { "  - \($0)\n" }.joined()
  }

  private static func rules(
    _ text: String, strings: String? = nil
  ) throws -> RuleSet {
    let strings = strings.map { [(name: "strings/en.yaml", bytes: Array($0.utf8))] } ?? []
    return try RuleDirectory.parse(files: [("a.yaml", Array(text.utf8))], strings: strings)
      .get().ruleSet
  }

  private static let cases: [(name: String, new: String, groups: [String])] = [
    ("nothing", file(arrived, beat), []),
    ("lines and comments", "# Rules\n\n" + file(arrived, beat), []),
    ("the order", file(beat, arrived), []),
    ("a text", file(arrived.replacing("Here", with: "There"), beat), ["changed: arrived"]),
    ("a period", file(arrived, beat.replacing("20m", with: "30m")), ["changed: beat"]),
    (
      "a condition",
      file(arrived.replacing("expires", with: "if: ride.id == 'a', expires"), beat),
      ["changed: arrived"]
    ),
    (
      "a new name", file(arrived, beat.replacing("beat", with: "pulse")),
      ["added: pulse", "removed: beat"]
    ),
    ("an event", file(arrived, beat, also: "events: [eta_changed]\n"), ["also changed: events"]),
    (
      "attributes and defaults",
      file(
        arrived, beat, also: "attributes: { plate: text }\ndefaults: { time-zone: Europe/Vienna }\n"
      ),
      ["also changed: attributes, defaults"]
    ),
  ]

  @Test(arguments: cases.indices) func `the rules that differ in their meaning are named`(
    index: Int
  ) throws {
    let (name, new, groups) = Self.cases[index]
    let changes = RuleChanges(
      from: try Self.rules(Self.file(Self.arrived, Self.beat)), to: try Self.rules(new))
    let words = changes.groups.map { "\($0.word): \($0.names.joined(separator: ", "))" }
    #expect(words == groups, "\(name)")
    #expect(changes.isEmpty == groups.isEmpty)
  }

  @Test func `a text in the strings changes the rule that names it`() throws {
    let text = Self.file(Self.arrived.replacing("Here", with: "\"{{strings.here}}\""))
    let changes = RuleChanges(
      from: try Self.rules(text, strings: "here: Here\n"),
      to: try Self.rules(text, strings: "here: There\n"))
    #expect(changes.changed == ["arrived"])
    #expect(changes.leavingOut(["arrived"]).isEmpty)
  }
}
