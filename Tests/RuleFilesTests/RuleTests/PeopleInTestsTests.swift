import Testing

@testable import Base
@testable import RideCore
@testable import RuleFiles
@testable import Timeline

/// What `given` and `when` state about people: participants, preferences, contacts, and events about
/// no ride.
@Suite struct PeopleInTestsTests {
  private static let rules = """
    states: { active: [requested, driver_arrived], final: [done] }
    events: [shift_ending, driver_lost]
    rules:
      - { name: shift, app: driver, on: shift_ending, topic: shifts, expires: 5m, alert: { title: "{{event.data.at}}" } }
      - { name: arrived, app: customer, on: driver_arrived, topic: arrival, expires: 5m, alert: { title: Here } }
    """
  private static let given = """
    given:
      at: 2026-11-21T08:00:00Z
      ride: { id: r1, state: requested, customer_id: u1, driver_id: d1 }

    """

  private static func messages(_ lines: String) -> [String] {
    let test = lines.split(separator: "\n").map { "    \($0)\n" }.joined()
    return RuleTestRules.messages(about: given + "tests:\n  - name: t\n" + test, rules: rules)
  }

  private static let good = [
    // Each of several owners of an app has a phone of their own; one entry is for all of them.
    """
    given: { ride: none }
    when: [{ at: 5m, event: shift_ending, data: { driver_id: [d7, d8], at: Noon } }]
    then: [{ at: 5m, rule: shift, to: driver }]
    """,
    """
    given: { ride: none }
    when: [{ at: 5m, event: shift_ending, data: { driver_id: [d7, d8], at: Noon } }]
    then: [{ at: 5m, rule: shift, owner_id: d7 }, { at: 5m, rule: shift, owner_id: d8 }]
    """,
    // A ride and an event about no ride in one test.
    """
    when: [{ at: 5m, event: shift_ending, ride: none, data: { driver_id: d9, at: Noon } }]
    then: [{ at: 5m, rule: shift, owner_id: d9 }]
    """,
    """
    given: { ride: { participants: [{ app: customer, owner_id: u2 }] } }
    when: [{ at: 5m, state: driver_arrived }]
    then: [{ at: 5m, rule: arrived, owner_id: u1 }, { at: 5m, rule: arrived, owner_id: u2 }]
    """,
    // Participants who join later.
    """
    when: [{ at: 1m, participants: [{ app: customer, owner_id: u3 }] }, { at: 5m, state: driver_arrived }]
    then: [{ at: 5m, rule: arrived, owner_id: u1 }, { at: 5m, rule: arrived, owner_id: u3 }]
    """,
    """
    given: { preferences: [{ app: customer, topic: arrival, allowed: false }] }
    when: [{ at: 5m, state: driver_arrived }]
    then: []
    not-sent: [{ at: 5m, rule: arrived, reason: opted_out }]
    """,
    """
    given: { preferences: [{ app: customer, topic: arrival, allowed: false }] }
    when: [{ at: 1m, preference: { app: customer, topic: arrival, allowed: true } }, { at: 5m, state: driver_arrived }]
    then: [{ at: 5m, rule: arrived }]
    """,
    """
    given: { ride: none, preferences: [{ app: driver, owner_id: d7, topic: shifts, allowed: false }] }
    when: [{ at: 5m, event: shift_ending, data: { driver_id: [d7, d8], at: Noon } }]
    then: [{ at: 5m, rule: shift, owner_id: d8 }]
    not-sent: [{ at: 5m, rule: shift, owner_id: d7, reason: opted_out }]
    """,
  ]

  @Test(arguments: good.indices) func `A test about people passes`(index: Int) {
    #expect(Self.messages(Self.good[index]) == [])
  }

  /// The lines of a test, and a part of the only message about it.
  private static let bad = [
    (
      "given: { ride: none }\nwhen: [{ at: 5m, event: shift_ending }]\nthen: []",
      "the event shift_ending is about no ride, and its data names no person; expected data with"
    ),
    (
      "given: { ride: none }\nwhen: [{ at: 5m, state: done }]\nthen: []",
      "\"state\" in a scenario with ride: none"
    ),
    (
      "given: { preferences: [{ app: customer, topic: arival, allowed: false }] }\nwhen: []\nthen: []",
      "the topic \"arival\", which no rule has"
    ),
    (
      "when: [{ at: 5m, ride: none, state: done }]\nthen: []",
      "\"ride\" in an entry without \"event\""
    ),
    (
      "given: { ride: none, contacts: [{ app: driver }] }\nwhen: []\nthen: []",
      "the scenario has no driver; expected owner_id"
    ),
    // What is not sent, and why.
    (
      "given: { preferences: [{ app: customer, topic: arrival, allowed: false }] }\n"
        + "when: [{ at: 5m, state: driver_arrived }]\nthen: [{ at: 5m, rule: arrived }]",
      "arrived at 5m was not sent: the owner has turned arrival off"
    ),
  ]

  @Test(arguments: bad.indices) func `A mistake about people has one message`(index: Int) {
    let (lines, part) = Self.bad[index]
    let messages = Self.messages(lines)
    #expect(messages.count == 1 && messages[0].contains(part), "\(messages)")
  }

  @Test func `A contact before the start counts for its phone`() throws {
    let rules = try RuleDirectory.parse(files: [("a.yaml", Array(Self.rules.utf8))]).get().ruleSet
    let yaml = """
      given:
        at: 2026-11-21T08:00:00Z
        ride: { id: r1, driver_id: d1 }
        phones: [{ app: driver, installation_id: i1 }, { app: driver, installation_id: i2 }]
        contacts: [{ app: driver, installation_id: i1, ago: 10m }, { app: driver, installation_id: i2, ago: 2m }]
      when: []
      """
    let scenario = try ScenarioFile.parse(
      Array(yaml.utf8), named: "a.yaml", for: rules, at: Timestamp(microseconds: 0)
    ).get()
    let start = scenario.start
    #expect(scenario.view.contacts.map(\.at) == [start - .seconds(120)])
    #expect(
      scenario.view.phones.map(\.contactedAt) == [start - .seconds(600), start - .seconds(120)])
  }

  @Test func `A story of an event about no ride shows each person's push`() throws {
    let rules = try RuleDirectory.parse(files: [("a.yaml", Array(Self.rules.utf8))]).get().ruleSet
    let yaml = """
      given: { ride: none }
      when: [{ at: 5m, event: shift_ending, data: { driver_id: [d7, d8] } }]
      """
    let start = Timestamp(epochSeconds: 1_800_000_000)
    let plain = try ScenarioFile.parse(
      Array(yaml.utf8), named: "a.yaml", for: rules, at: start
    ).get()
    let invented = InventedRide(for: rules, at: start)
    let scenario = invented.filled(invented.completed(plain, withCards: false))
    var configuration = EngineConfiguration(rules: rules, bundleIDs: [:])
    configuration.fillBundleIDs()
    let story = Story(scenario, by: configuration, until: start + .seconds(600))
    let moment = try #require(story.moments.first)
    #expect(story.moments.count == 1 && moment.at == start + .seconds(300))
    #expect(moment.rows.map(\.phones) == [2] && moment.rows.allSatisfy(\.isSent))
  }
}
