import Testing

@testable import Base
@testable import RideCore
@testable import RuleFiles

/// `me` and `ride.entered` in rule files, and in tests of them.
@Suite struct MeInTestsTests {
  private static let rules = """
    states: { active: [requested, driver_arrived, ride_started], final: [done] }
    events: [eta_changed, fee_due]
    rules:
      - { name: pin, app: customer, on: eta_changed, expires: 5m, alert: { title: "{{me.pin | default: 'none'}}" } }
      - { name: fee, app: driver, on: fee_due, expires: 5m, if: "now - ride.entered.driver_arrived > duration('5m')", alert: { title: "Since {{ride.entered.driver_arrived}}" } }
      - { name: back, app: driver, on: driver_arrived, expires: 5m, if: "has(ride.entered.ride_started)", alert: { title: Back } }
      - { name: vip, app: customer, on: ride_started, expires: 5m, if: "has(me.vip) && me.vip", alert: { title: VIP } }
    """
  private static let given = """
    given:
      at: 2026-11-21T08:00:00Z
      ride: { id: r1, state: requested, customer_id: u1, driver_id: d1 }

    """

  private static let good = [
    """
    given: { ride: { participants: [{ app: customer, owner_id: u2, attributes: { pin: "22" } }, { app: customer, owner_id: u3, attributes: { pin: "33" } }] } }
    when: [{ at: 5m, event: eta_changed }]
    then:
      - { at: 5m, rule: pin, owner_id: u1, payload: { aps: { alert: { title: none } } } }
      - { at: 5m, rule: pin, owner_id: u2, payload: { aps: { alert: { title: "22" } } } }
      - { at: 5m, rule: pin, owner_id: u3, payload: { aps: { alert: { title: "33" } } } }
    """,
    // Attributes change on the way, which fires no rule.
    """
    given: { ride: { participants: [{ app: customer, owner_id: u2, attributes: { pin: "22" } }] } }
    when:
      - { at: 1m, participants: [{ app: customer, owner_id: u2, attributes: { pin: "44" } }] }
      - { at: 5m, event: eta_changed }
    then:
      - { at: 5m, rule: pin, owner_id: u1, payload: { aps: { alert: { title: none } } } }
      - { at: 5m, rule: pin, owner_id: u2, payload: { aps: { alert: { title: "44" } } } }
    """,
    """
    when: [{ at: 1m, state: driver_arrived }, { at: 5m, event: fee_due }, { at: 8m, event: fee_due }]
    then: [{ at: 8m, rule: fee, payload: { aps: { alert: { title: "Since 2026-11-21T08:01:00Z" } } } }]
    """,
    // The state of `given` was entered at the start.
    """
    given: { ride: { state: driver_arrived } }
    when: [{ at: 6m, event: fee_due }]
    then: [{ at: 6m, rule: fee, payload: { aps: { alert: { title: "Since 2026-11-21T08:00:00Z" } } } }]
    """,
    """
    given: { ride: { participants: [{ app: customer, owner_id: u2, attributes: { vip: true } }, { app: customer, owner_id: u3, attributes: { vip: false } }] } }
    when: [{ at: 5m, state: ride_started }]
    then: [{ at: 5m, rule: vip, owner_id: u2 }]
    """,
    // A state that is entered again.
    """
    when:
      - { at: 1m, state: driver_arrived }
      - { at: 2m, state: ride_started }
      - { at: 9m, state: driver_arrived }
      - { at: 10m, event: fee_due }
      - { at: 15m, event: fee_due }
    then: [{ at: 9m, rule: back }, { at: 15m, rule: fee, payload: { aps: { alert: { title: "Since 2026-11-21T08:09:00Z" } } } }]
    """,
  ]

  @Test(arguments: good.indices) func `A test with them passes`(index: Int) {
    let lines = Self.good[index].split(separator: "\n").map { "    \($0)\n" }.joined()
    #expect(
      RuleTestRules.messages(
        about: Self.given + "tests:\n  - name: t\n" + lines, rules: Self.rules) == [])
  }

  private static let card =
    "-on: x\n-alert: x\nlive-activity: { attributes-type: T, content-state: { pin: \"{{me.pin}}\" }"

  /// A change of a valid rule, and a part of the only message about it.
  private static let bad = [
    (
      "if: ride.entered.arrived < now",
      "\"arrived\" is not in ride.entered (character 14 of if); expected one of"
    ),
    ("if: has(ride.entered.driver_arived)", "did you mean \"driver_arrived\"?"),
    ("if: ride.entered < now", "< of map and timestamp"),
    (
      "alert: { title: \"At {{ride.entered.driver_arived | time}}\" }",
      "{{ride.entered.driver_arived}}, which names an unknown state; expected one of scheduled"
    ),
    (
      "-alert: x\nemit: eta_changed\n-expires: x\ndata: { pin: \"{{me.pin}}\" }",
      "{{me.pin}} in the data of an event; expected values of the ride"
    ),
    (
      "-alert: x\nemit: eta_changed\n-expires: x\nif: has(me.pin)",
      "me in the if of an emit; expected values of the ride"
    ),
    (
      card + ", end: [ride_completed], broadcast: true }",
      "{{me.pin}} next to broadcast; expected values of the ride"
    ),
  ]

  @Test(arguments: bad.indices) func `What can have no value is refused`(index: Int) {
    let (change, part) = Self.bad[index]
    let rule = "events: [eta_changed]\n" + ruleFile(changing: change)
    let messages = problems(in: rule)
    #expect(messages.contains { $0.contains(part) }, "\(messages)")
  }

  @Test func `An unknown state of an entry is reported where it is written`() {
    let rule = ruleFile(changing: "alert: { title: \"At {{ride.entered.driver_arived | time}}\" }")
    let lines = rule.split(separator: "\n", omittingEmptySubsequences: false)
    let number = lines.firstIndex { $0.contains("driver_arived") } ?? 0
    let column = lines[number].firstRange(of: "ride.entered").map {
      lines[number].distance(from: lines[number].startIndex, to: $0.lowerBound) + 1
    }
    #expect(problems(in: rule).first?.hasPrefix("a.yaml:\(number + 1):\(column ?? 0): ") == true)
  }

  @Test func `Rules that read entries are known, and others ask for none`() throws {
    func reads(_ change: String) throws -> Bool {
      try RuleDirectory.parse(files: [("a.yaml", Array(ruleFile(changing: change).utf8))]).get()
        .ruleSet.readsEntries
    }
    #expect(try reads("if: has(ride.entered.driver_arrived)"))
    #expect(try reads("alert: { title: \"{{ride.entered.driver_arrived | time}}\" }"))
    #expect(try reads("collapse: \"{{ride.entered.driver_arrived | epoch}}\""))
    #expect(try !reads("if: ride.state == 'driver_arrived'"))
  }
}
