import PostgresStore
import RideCore
import Testing

@testable import RidePulse

/// What doctor finds about rules that wait for contacts and receipts.
@Suite struct IdleRuleCheckTests {
  private static func rule(
    _ name: String, _ times: [RuleTime], otherApps: [App] = [], escalates: Bool = false
  ) -> Rule {
    var rule = Rule(
      name: name, app: .driver, when: .at(Timing(.times(times), while: nil)), what: .emit("e"),
      expires: .ofEmit, source: "a.yaml:1")
    rule.otherApps = otherApps
    if escalates { rule.escalation = Escalation(unlessSeenWithin: .seconds(6), emit: "e") }
    return rule
  }

  private static let pickup = RuleTime(.ride(.pickupAt), by: .seconds(-60))
  private static let contact = RuleTime(.contact, by: .seconds(180))

  private static let rules = [
    rule("lost", [contact]), rule("reminder", [pickup, contact], otherApps: [.customer]),
    rule("offer", [pickup], escalates: true), rule("plain", [pickup]),
  ]

  private func names(_ reports: [AppReports], _ rules: [Rule] = rules) -> [String] {
    let set = RuleSet(activeStates: [], finalStates: [], events: [], rules: rules)
    return IdleRuleCheck.results(.known(reports), set).map { "\($0.name): \($0.what)" }
  }

  /// Whether the drivers' phones reported contacts and receipts, and what is found.
  @Test(
    arguments: [
      (true, true, []), (false, true, [("contact driver", "lost, reminder")]),
      (true, false, [("receipts driver", "offer")]),
      (false, false, [("contact driver", "lost, reminder"), ("receipts driver", "offer")]),
    ] as [(Bool, Bool, [(String, String)])])
  func `a rule is idle if its app never reported what it waits for`(
    _ hasContact: Bool, _ hasReceipt: Bool, _ expected: [(String, String)]
  ) {
    let found = names([AppReports(.driver, hasContact: hasContact, hasReceipt: hasReceipt)])
    #expect(found.count == expected.count)
    for (text, (name, rules)) in zip(found, expected) {
      #expect(text.hasPrefix("\(name): ") && text.hasSuffix(": \(rules)"), "\(text)")
    }
  }

  @Test func `each app of a rule is judged by its own reports`() {
    let found = names([
      AppReports(.customer, hasContact: false, hasReceipt: false),
      AppReports(.driver, hasContact: true, hasReceipt: true),
    ])
    #expect(found.count == 1 && found[0].hasPrefix("contact customer: "), "\(found)")
    #expect(found.allSatisfy { $0.hasSuffix(": reminder") })
  }

  @Test func `rules that wait for no report are never idle`() {
    let silent = AppReports(.driver, hasContact: false, hasReceipt: false)
    #expect(names([silent], [Self.rule("plain", [Self.pickup])]) == [])
    #expect(IdleRuleCheck.results(.failed("no answer"), nil) == [])
    let set = RuleSet(activeStates: [], finalStates: [], events: [], rules: Self.rules)
    #expect(
      IdleRuleCheck.results(.failed("no answer"), set).map(\.what)
        == ["they can't be found: no answer"])
  }
}
