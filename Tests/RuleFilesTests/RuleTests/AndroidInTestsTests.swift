import Testing

@testable import Base
@testable import RideCore
@testable import RuleFiles
@testable import Timeline

/// What tests of rules state and expect of Android phones.
@Suite struct AndroidInTestsTests {
  private static let rules = """
    states: { active: [requested, driver_en_route, driver_arrived], final: [done] }
    events: [offered]
    rules:
      - name: arrived
        app: customer
        on: driver_arrived
        alert: { title: { en: Here, de: Da }, sound: default, interruption-level: time-sensitive }
        expires: 5m
      - { name: offer, app: driver, on: offered, expires: 15s,
          alert: { title: Offer, category: OFFER }, android: { channel: offers, priority: normal }, priority: 10 }
      - { name: wake, app: driver, on: driver_en_route, background: {} }
      - name: card
        app: customer
        live-activity:
          attributes-type: RideAttributes
          content-state: { status: "{{ride.state}}" }
          start: driver_en_route
          stale-after: 2h
        android:
          title: { en: Soon, de: Bald }
          countdown: "{{ride.pickup_at}}"
          steps: [requested, driver_en_route]
        expires: 2m
    """
  private static let given = """
    given:
      at: 2026-11-21T08:00:00Z
      ride: { id: r1, state: requested, customer_id: u1, driver_id: d1, pickup_at: 30m }
      phones:
        - { app: customer, token: 00aabb11, locale: en, installation_id: a }
        - { app: customer, platform: android, token: "dAAAAAAAAAAAAAAAAAAAAA", locale: de, installation_id: b }
        - { app: driver, platform: android }

    """

  private static func messages(_ lines: String) -> [String] {
    let test = lines.split(separator: "\n").map { "    \($0)\n" }.joined()
    return RuleTestRules.messages(about: given + "tests:\n  - name: t\n" + test, rules: rules)
  }

  private static let good = [
    // One entry is for the phones of both systems.
    """
    only: arrived
    when: [{ at: 5m, state: driver_arrived }]
    then: [{ at: 5m, rule: arrived, push: { type: alert, priority: 10, expires: 5m } }]
    """,
    """
    only: arrived
    when: [{ at: 5m, state: driver_arrived }]
    then:
      - { at: 5m, rule: arrived, platform: ios, title: Here, payload: { aps: { sound: default } } }
      - { at: 5m, rule: arrived, channel: ride_now, drawn-by: system, title: Da }
    """,
    """
    only: offer
    when: [{ at: 5m, event: offered }]
    then: [{ at: 5m, rule: offer, channel: offers, drawn-by: app, push: { priority: 5 }, payload: { message: { data: { rp_kind: alert } } } }]
    """,
    """
    only: wake
    when: [{ at: 5m, state: driver_en_route }]
    then: [{ at: 5m, rule: wake, platform: android, push: { type: background, expires: never-store } }]
    """,
    // Only the service of the phone refuses it, and a phone that is gone receives nothing more.
    """
    only: arrived
    when: [{ at: 1m, fcm: UNREGISTERED }, { at: 5m, state: driver_arrived }, { at: 6m, fcm: accepts }, { at: 7m, state: requested }, { at: 8m, state: driver_arrived }]
    then: [{ at: 5m, rule: arrived, platform: ios }, { at: 8m, rule: arrived, platform: ios }]
    not-sent: [{ at: 5m, rule: arrived, platform: android, reason: UNREGISTERED }]
    """,
    """
    only: arrived
    when: [{ at: 1m, apns: away }, { at: 5m, state: driver_arrived }]
    then: [{ at: 5m, rule: arrived, platform: android }]
    """,
    """
    only: arrived
    when: [{ at: 1m, fcm: { reason: INVALID_ARGUMENT, for: 10m } }, { at: 5m, state: driver_arrived }]
    then: [{ at: 5m, rule: arrived, platform: ios }]
    """,
    // A card without a token of its own, and what it shows.
    """
    only: card
    when: [{ at: 5m, state: driver_en_route }, { at: 9m, state: done }]
    then:
      - { at: 5m, rule: card, card: start, look: { title: Bald, step: 1, steps: 2, countdown: 1795249800 } }
      - { at: 9m, rule: card, card: end, platform: android }
    """,
  ]

  @Test(arguments: good.indices) func `A test with Android phones passes`(index: Int) {
    #expect(Self.messages(Self.good[index]) == [])
  }

  /// The lines of a test, and a part of the only message about it.
  private static let bad = [
    (
      "when: [{ at: 1m, fcm: UNREGISTRED }]\nthen: []",
      "fcm is the text \"UNREGISTRED\"; expected accepts, away, a reason such as UNREGISTERED, or "
        + "{ reason: UNAVAILABLE, for: 3m }; did you mean \"UNREGISTERED\"?"
    ),
    (
      "when: [{ at: 1m, fcm: { reason: Unregistered } }]\nthen: []",
      "reason is the text \"Unregistered\"; expected DEVICE_QUOTA_EXCEEDED, "
    ),
    ("when: [{ at: 1m, fcm: { for: 3m } }]\nthen: []", "fcm without reason; expected reason: "),
    (
      "given: { phones: [{ app: customer, platform: windows }] }\nwhen: []\nthen: []",
      "platform is the text \"windows\"; expected ios or android"
    ),
    (
      "given: { phones: [{ app: customer, platform: android, environment: sandbox }] }\nwhen: []\n"
        + "then: []",
      "environment of an Android phone; expected the phone without it: FCM has no environments"
    ),
    (
      "given: { phones: [{ app: customer, platform: android, token: a b }] }\nwhen: []\nthen: []",
      "token is not a registration of FCM; expected at most 512 visible ASCII characters"
    ),
    (
      "when: []\nthen: [{ at: 1m, rule: arrived, platform: ios, channel: x }]",
      "\"channel\" next to platform: ios; expected platform: android, which alone has it"
    ),
    (
      "when: []\nthen: [{ at: 1m, rule: arrived, drawn-by: phone }]",
      "drawn-by is the text \"phone\"; expected app or system"
    ),
  ]

  @Test(arguments: bad.indices) func `A mistake about Android phones is reported`(index: Int) {
    let (lines, message) = Self.bad[index]
    let found = Self.messages(lines)
    #expect(found.contains { $0.contains(message) }, "\(lines): \(found)")
  }

  @Test func `What is shown otherwise is reported`() {
    let found = Self.messages(
      """
      only: arrived
      when: [{ at: 5m, state: driver_arrived }]
      then: [{ at: 5m, rule: arrived, platform: ios }, { at: 5m, rule: arrived, channel: x, drawn-by: app, title: Here }]
      """)
    for part in ["channel", "ride_now", "drawn-by", "system", "title", "Da"] {
      #expect(found.contains { $0.contains(part) }, "\(part): \(found)")
    }
  }

  @Test func `A written then names systems only if they received different pushes`() throws {
    func then(_ lines: String) throws -> [String] {
      let test = lines.split(separator: "\n").map { "    \($0)\n" }.joined()
      let file = try RuleTestRules.file(
        Self.given + "tests:\n  - name: t\n" + test, allowsIncomplete: true, rules: Self.rules)
      return file.tests.flatMap { $0.lines(for: RuleTestRun($0, by: file.configuration)) }
    }
    #expect(
      try then("only: arrived\nwhen: [{ at: 5m, state: driver_arrived }]\nfor: 10m") == [
        "- { at: 5m, rule: arrived, to: customer, push: { type: alert, priority: 10, expires: 5m } }"
      ])
    let phones = "given: { phones: [{ app: driver }, { app: driver, platform: android }] }\n"
    #expect(
      try then(phones + "only: offer\nwhen: [{ at: 5m, event: offered }]\nfor: 10m") == [
        "- { at: 5m, rule: offer, to: driver, platform: ios, push: { type: alert, priority: 10, "
          + "expires: 15s } }",
        "- { at: 5m, rule: offer, to: driver, platform: android, push: { type: alert, priority: 5, "
          + "expires: 15s } }",
      ])
  }
}
