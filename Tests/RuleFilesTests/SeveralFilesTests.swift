import Testing

@testable import RideCore
@testable import RuleFiles

/// The combined meaning of the files of one directory.
@Suite struct SeveralFilesTests {
  private func files(_ texts: (String, String)...) -> [(name: String, bytes: [UInt8])] {
    texts.map { ($0.0, Array($0.1.utf8)) }
  }

  @Test func allProblemsAtOnceInOrder() {
    let found = problems(
      in: files(
        ("b.yaml", "rules:\n  - name: \"r\n"),
        ("c.yaml", ruleFile(changing: "priority: 7\nexpires: 5")),
        ("a.yaml", ruleFile(changing: "on: nothing_known\napp: 5")),
        ("d.yaml", "rules:\n  - 5\n  - name: R\n" + ruleFile().dropFirst("rules:\n".count))))
    #expect(
      found == [
        "a.yaml:3:10: app is the number 5; expected an app such as customer or driver: "
          + "a-z, 0-9, - and _, at most 64",
        "b.yaml:2:11: a quote that is never closed; expected the same quote at the end of the text",
        "c.yaml:2:11: the rule name \"r\" for the second time; "
          + "expected a name of its own (the first is at a.yaml:2:11)",
        "c.yaml:6:14: expires is the number 5; "
          + "expected a duration such as 5m or 1h30m, or never-store",
        "c.yaml:7:15: priority is the number 7; "
          + "expected 10 (at once), 5 (when it suits the phone) or 1 (without waking it)",
        "d.yaml:2:5: an entry of rules is the number 5; "
          + "expected a mapping that starts with \"name:\"",
        "d.yaml:3:5: the rule \"R\" does not define what it sends; "
          + "expected alert with a title, body or loc-key, background: {}, widgets: {}, controls: {}, "
          + "location: {}, live-activity, emit or post",
        "d.yaml:3:5: the rule \"R\" does not define when it fires; "
          + "expected on with an event such as driver_arrived, or with a list of events; "
          + "or at, every or cron",
        "d.yaml:3:5: the rule \"R\" has no app; expected an app such as customer or driver: "
          + "a-z, 0-9, - and _, at most 64",
        "d.yaml:3:5: the rule \"R\" has no expires; expected a duration such as 5m, or "
          + "never-store: without it Apple may keep the push for 30 days",
        "d.yaml:3:11: name is the text \"R\"; expected a name of a-z, 0-9 and -, at most 64, "
          + "such as driver-arrived; did you mean \"r\"?",
        "d.yaml:4:11: the rule name \"r\" for the second time; "
          + "expected a name of its own (the first is at a.yaml:2:11)",
      ])
  }

  @Test func anEventIsUnknownOnceAllFilesAreRead() {
    let broken = ("b.yaml", "events: [")
    let rule = ("a.yaml", ruleFile(changing: "on: later"))
    #expect(problems(in: files(rule, ("b.yaml", "events: [later]"))) == [])
    #expect(problems(in: files(rule, broken)).count == 1)
    #expect(problems(in: files(rule)).count == 1)
  }

  @Test func statesStandInOneFile() {
    let first = ("a.yaml", "# words\nstates: { active: [a], final: [b] }\n")
    let second = ("b.yaml", "states: { active: [a], final: [b] }\n")
    #expect(
      problems(in: files(second, first)) == [
        "b.yaml:1:1: states for the second time; "
          + "expected them in one file only (the first are at a.yaml:2:1)"
      ])
  }

  @Test func eventsAreTheUnionOfAllFiles() throws {
    let loaded = try RuleDirectory.parse(
      files: files(
        ("a.yaml", "events: [x, y]"), ("b.yaml", "events: [y, z]"),
        ("c.yaml", ruleFile(changing: "on: [x, z, ride_updated]")))
    ).get()
    #expect(loaded.ruleSet.events == ["x", "y", "z"])
    #expect(loaded.fileCount == 3)
    #expect(loaded.ruleSet.rules(on: "z").count == 1)
  }

  @Test func statesAreTheDesignsWhereNoFileNamesThem() throws {
    let plain = try RuleDirectory.parse(files: files(("a.yaml", ruleFile()))).get().ruleSet
    #expect(plain.activeStates.contains("driver_arrived") && plain.activeStates.count == 6)
    #expect(plain.finalStates.contains("no_show") && plain.finalStates.count == 4)
    let own = try RuleDirectory.parse(
      files: files(
        ("a.yaml", "states: { active: [ENROUTE], final: [COMPLETE] }"),
        ("b.yaml", ruleFile(changing: "on: COMPLETE")))
    ).get().ruleSet
    #expect(own.activeStates == ["ENROUTE"])
    #expect(own.finalStates == ["COMPLETE"])
    #expect(problems(in: files(first, ("b.yaml", ruleFile()))).count == 1)
  }

  private var first: (String, String) {
    ("a.yaml", "states: { active: [ENROUTE], final: [COMPLETE] }")
  }

  @Test func rulesKeepTheOrderOfNamesAndLines() throws {
    func rule(_ name: String) -> String { ruleFile(changing: "name: \(name)") }
    let two = rule("z") + rule("a").dropFirst("rules:\n".count)
    let loaded = try RuleDirectory.parse(
      files: files(("b.yaml", rule("m")), ("a.yaml", two))
    ).get()
    #expect(loaded.ruleSet.rules.map(\.name) == ["z", "a", "m"])
    #expect(
      loaded.ruleSet.rules.map(\.source) == ["a.yaml:2", "a.yaml:7", "b.yaml:2"])
  }

  @Test func anAppHasOneCard() {
    let card = ruleFile(
      changing: "-on\n-alert\nlive-activity: { attributes-type: T, content-state: { s: x } }")
    let other = card.replacing("name: r", with: "name: s")
    #expect(
      problems(in: files(("a.yaml", card), ("b.yaml", other))) == [
        "b.yaml:2:11: the second live-activity rule of app customer; expected one for each app: r at "
          + "a.yaml:2 is the other"
      ])
    let driver = other.replacing("app: customer", with: "app: driver")
    #expect(problems(in: files(("a.yaml", card), ("b.yaml", driver))) == [])
  }

  @Test func noFileIsNoProblemInMemory() throws {
    #expect(try RuleDirectory.parse(files: []).get().ruleCount == 0)
  }
}
