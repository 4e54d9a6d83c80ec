import Testing

@testable import Base
@testable import RideCore
@testable import RuleFiles
@testable import Timeline

/// What tests of rules state and expect of the screens of phones.
@Suite struct ScreensInTestsTests {
  private static let rules = """
    states: { active: [requested, driver_en_route, driver_arrived], final: [done] }
    events: [nearby]
    rules:
      - name: arrived
        app: customer
        on: driver_arrived
        alert: { title: Your driver is here, body: "{{ride.attributes.plate}}", sound: default, interruption-level: time-sensitive }
        expires: 10m
      - { name: nearby, app: customer, on: nearby, alert: { title: Soon, badge: 2 }, collapse: none, expires: 2m }
      - { name: heartbeat, app: customer, at: driver_arrived + 1m, background: {}, expires: 5m }
      - name: card
        app: customer
        live-activity:
          attributes-type: RideAttributes
          content-state: { status: "{{ride.state}}", seats: 4 }
          start: driver_en_route
          end: { done: 10m }
          stale-after: 3m
        android: { title: Soon, steps: [requested, driver_en_route] }
        expires: 2m
    """
  private static let given = """
    given:
      at: 2026-11-21T08:00:00Z
      ride: { id: r1, state: driver_en_route, customer_id: u1, attributes: { plate: B-RP 1001 } }
      phones:
        - { name: mine, app: customer, installation_id: a }
        - { name: away, app: customer, installation_id: b, away: [1m..8m] }
        - { name: asleep, app: customer, platform: android, focus: [0s..20m] }
      cards: [{ app: customer, installation_id: a }]

    """

  private static func messages(_ lines: String, rules: String = rules) -> [String] {
    let test = lines.split(separator: "\n").map { "    \($0)\n" }.joined()
    return RuleTestRules.messages(about: given + "tests:\n  - name: t\n" + test, rules: rules)
  }

  private static let good = [
    """
    when: [{ at: 5m, state: driver_arrived }]
    then:
      - { at: 4m, screen: { mine: { notifications: [], rang: 0, badge: 0 }, away: { card: none } } }
      - at: 5m
        screen:
          mine: { notifications: [Your driver is here], card: { status: driver_arrived, seats: 4, stale: false }, rang: 1 }
          asleep: { notifications: [B-RP 1001], rang: 0, silent: 1 }
    """,
    // Next to a screen, every push is still listed.
    """
    only: nearby
    when: [{ at: 2m, event: nearby }]
    then:
      - { at: 2m, rule: nearby }
      - { at: 2m, screen: { mine: { notifications: [Soon], badge: 2, lit: 1 } } }
    """,
    // Without any push in the list, what is sent is not compared.
    """
    when: [{ at: 2m, event: nearby }, { at: 5m, state: driver_arrived }]
    then: [{ at: 5m, screen: { mine: { notifications: [Your driver is here · B-RP 1001, Soon] } } }]
    """,
    """
    when: [{ at: 6m, state: done }]
    then:
      - { at: 6m, screen: { mine: { card: { status: done } } } }
      - { at: 16m, screen: { mine: { card: none } } }
    """,
  ]

  @Test(arguments: good.indices) func `A test of screens passes`(index: Int) {
    #expect(Self.messages(Self.good[index]) == [])
  }

  @Test func `A heartbeat that is stored takes the arrival's place, and the test says so`() {
    let test = """
      when: [{ at: 5m, state: driver_arrived }]
      then: [{ at: 9m, screen: { away: { notifications: [Your driver is here], rang: 1 } } }]
      """
    let found = Self.messages(test)
    let text = found.joined(separator: "\n")
    for part in [
      "t: away at 9m shows something else", "notifications: expected \"Your driver is here\", ",
      "actual none", "rang: expected 1, actual 0", "the screen:", "no notification",
      "lost: arrived at 6m: the phone was off, and a later push took its place",
    ] {
      #expect(text.contains(part), "\(part): \(text)")
    }
    // Never stored, as heartbeats are by themselves.
    let cured = Self.rules.replacing("background: {}, expires: 5m", with: "background: {}")
    #expect(Self.messages(test, rules: cured) == [])
  }

  @Test func `A card that shows something else is reported with its fields`() {
    let text = Self.messages(
      """
      when: [{ at: 1m, state: requested }]
      for: 20m
      then: [{ at: 1m, screen: { mine: { card: { status: done, stale: true }, lit: 3 } } }]
      """
    ).joined(separator: "\n")
    for part in [
      "card.status: expected \"done\", actual \"requested\"",
      "card.stale: expected true, actual false", "lit: expected 3, actual 0",
      "card seats: 4, status: requested; stale from ",
    ] {
      #expect(text.contains(part), "\(part): \(text)")
    }
  }

  /// The lines of a test, and a part of the only message about it.
  private static let bad = [
    (
      "when: []\nthen: [{ at: 1m, screen: { mien: { rang: 1 } } }]",
      "screen names the unknown phone \"mien\"; expected mine, away or asleep; "
        + "did you mean \"mine\"?"
    ),
    (
      "given: { phones: [{ app: customer }] }\nwhen: []\nthen: [{ at: 1m, screen: { a: {} } }]",
      "screen names the unknown phone \"a\"; expected a phone under given that has a name"
    ),
    (
      "when: []\nthen: [{ at: 1m, screen: { mine: { rings: 1 } } }]",
      "unknown key \"rings\" in the screen of mine; expected one of notifications, card, badge, "
        + "rang, lit, silent"
    ),
    (
      "when: []\nthen: [{ at: 1m, scren: { mine: { rang: 1 } } }]",
      "unknown key \"scren\" in an entry of then; expected one of "
    ),
    (
      "when: []\nthen: [{ at: 1m, screen: { asleep: { badge: 1 } } }]",
      "badge of asleep, an Android phone; expected the screen without it"
    ),
    (
      "when: []\nthen: [{ at: 1m, screen: { mine: {} } }]",
      "a screen without a key; expected at least one of notifications, "
    ),
    (
      "when: []\nthen: [{ at: 1m, screen: [] }]",
      "screen is a list; expected a mapping of a phone's name"
    ),
    (
      "when: []\nthen: [{ screen: { mine: { rang: 1 } } }]",
      "an entry of then without at; expected at"
    ),
    (
      "when: []\nthen: [{ at: 1m, rule: arrived, screen: { mine: { rang: 1 } } }]",
      "\"rule\" next to \"screen\"; expected an entry with at and screen alone"
    ),
    (
      "when: []\nfor: 5m\nthen: [{ at: 6m, screen: { mine: { rang: 1 } } }]",
      "6m, after the end of the test; expected at most 5m, as for has it"
    ),
    (
      "when: []\nthen: [{ at: 1m, screen: { mine: { card: { stale: perhaps } } } }]",
      "stale of the card is \"perhaps\"; expected true or false"
    ),
    (
      "when: []\nthen: [{ at: 1m, screen: { mine: { card: some } } }]",
      "card is the text \"some\"; expected none, or a mapping of fields to values"
    ),
    (
      "when: []\nthen: [{ at: 1m, screen: { mine: { notifications: Here } } }]",
      "notifications is the text \"Here\"; expected a list of texts"
    ),
    (
      "given: { phones: [{ app: customer, name: a }, { app: customer, name: a }] }\nwhen: []\n"
        + "then: []",
      "the phone \"a\" for the second time; expected a name of its own"
    ),
    (
      "given: { phones: [{ app: customer, name: a, away: 2m..12m }] }\nwhen: []\nthen: []",
      "away is the text \"2m..12m\"; expected a list such as [2m..12m]"
    ),
    (
      "given: { phones: [{ app: customer, name: a, away: [12m..2m] }] }\nwhen: []\nthen: []",
      "away is the text \"12m..2m\"; expected two durations after the start, the later one last"
    ),
    (
      "given: { phones: [{ app: customer, name: a, focus: [1m..4m, 3m..5m] }] }\nwhen: []\n"
        + "then: []",
      "focus begins before the one in front of it has ended; expected times in their order"
    ),
  ]

  @Test(arguments: bad.indices) func `A mistake about screens is reported`(index: Int) {
    let (lines, message) = Self.bad[index]
    let found = Self.messages(lines)
    #expect(found.count == 1 && found[0].contains(message), "\(lines): \(found)")
  }

  @Test(arguments: ["name: mine", "away: [1m..2m]", "focus: [1m..2m]"])
  func `A story, which shows no screens, has none of a phone's`(key: String) throws {
    let story = "given: { phones: [{ app: customer, \(key) }] }\nwhen: []"
    let rules = try RuleTestRules.file("tests: [{ name: t, then: [] }]").rules.ruleSet
    let result = ScenarioFile.parse(
      Array(story.utf8), named: "a.yaml", for: rules, at: Timestamp(epochSeconds: 0))
    let problems = #expect(throws: RuleProblems.self) { try result.get() }?.problems ?? []
    let name = try #require(key.split(separator: ":").first)
    #expect(
      problems.map(\.description) == [
        "a.yaml:1:36: \"\(name)\" outside a test; "
          + "expected it in a test only, whose screens it is about"
      ])
  }
}
