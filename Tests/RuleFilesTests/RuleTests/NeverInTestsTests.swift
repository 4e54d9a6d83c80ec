import Testing

@testable import Base
@testable import RideCore
@testable import RuleFiles
@testable import Timeline

/// `never`: what no phone may show in any test of a file.
@Suite struct NeverInTestsTests {
  private static let rules = """
    states: { active: [requested, driver_en_route, driver_arrived], final: [done] }
    events: [nearby]
    rules:
      - name: arrived
        app: customer
        on: driver_arrived
        alert: { title: Here, sound: default, interruption-level: time-sensitive }
        expires: 10m
      - { name: nearby, app: customer, on: nearby, alert: { title: Soon, sound: default }, expires: 2m }
      - { name: heartbeat, app: customer, at: driver_arrived + 1m, background: {}, expires: 5m }
      - name: card
        app: customer
        live-activity:
          attributes-type: RideAttributes
          content-state: { status: "{{ride.state}}" }
          start: driver_en_route
          stale-after: 30m
        expires: 2m
    """

  /// Returns the messages about a test in which the driver is near at 22:30 and arrives at 23:00.
  private static func messages(
    _ never: String, phones: String = "phones: [{ name: mine, app: customer }]",
    when: String = "[{ at: 30m, event: nearby }, { at: 1h, state: driver_arrived }]",
    rules: String = rules
  ) -> [String] {
    RuleTestRules.messages(
      about: """
        given:
          at: 2026-11-21T21:00:00Z
          ride: { id: r1, state: driver_en_route, customer_id: u1, time_zone: Europe/Berlin }
          \(phones)
          cards: [{ app: customer }]
        never: \(never)
        tests:
          - { name: t, only: nearby, when: \(when), for: 2h, not-sent: [] }
        """, rules: rules)
  }

  private static let kept = [
    #"{ rings-between: "23:30-07:00", rings-per-ride: 2, time-sensitive-per-ride: 1 }"#,
    "{ stale-card-for: 30m, lost-behind: alert }",
  ]

  @Test(arguments: kept) func `A limit that is kept is no failure`(never: String) {
    #expect(Self.messages(never) == [])
  }

  /// (never, a part of the message)
  private static let broken = [
    (
      #"{ rings-between: "22:15-07:00" }"#, "t: mine rang at 2026-11-21 22:30:00 +01:00, by nearby"
    ),
    ("{ rings-per-ride: 1 }", "t: mine rang too often: 2, at most 1"),
    (
      "{ time-sensitive-per-ride: 0 }",
      "t: mine received too many time-sensitive alerts: 1, at most 0"
    ),
    (
      "{ lost-behind: background }",
      "would lose arrived at 1h if it were off: heartbeat at 1h1m takes its place"
    ),
  ]

  @Test(arguments: broken.indices) func `A broken limit is reported, with the screen`(index: Int) {
    let (never, message) = Self.broken[index]
    let found = Self.messages(never).joined(separator: "\n")
    for part in [message, "the screen:", "\"Here\", rang at 1h"] {
      #expect(found.contains(part), "\(part): \(found)")
    }
  }

  @Test func `A card that gets no update is stale, unless the phone is off`() {
    let limit = "{ stale-card-for: 10m }"
    // APNs refuses every push, so no refresh arrives.
    let when = "[{ at: 25m, apns: { status: 503 } }]"
    let found = Self.messages(limit, when: when).joined(separator: "\n")
    #expect(found.contains("t: mine showed a stale card for "), "\(found)")
    let away = "phones: [{ name: mine, app: customer, away: [25m..3h] }]"
    #expect(Self.messages(limit, phones: away, when: when) == [])
    let invented = Self.messages(limit, phones: "", when: when).joined(separator: "\n")
    #expect(invented.contains("t: the phone of customer u1 showed a stale card"), "\(invented)")
  }

  @Test func `Hours are those of the ride's zone when it rings`() {
    let when = "[{ at: 10m, time_zone: Asia/Tokyo }, { at: 30m, event: nearby }]"
    let found = Self.messages(#"{ rings-between: "06:15-06:45" }"#, when: when)
    #expect(
      found.first?.hasSuffix("t: mine rang at 2026-11-22 06:30:00 +09:00, by nearby") == true,
      "\(found)")
    #expect(Self.messages(#"{ rings-between: "22:15-22:45" }"#, when: when) == [])
  }

  @Test func `Without a ride, hours are those of the phone's zone`() {
    let found = RuleTestRules.messages(
      about: #"""
        given:
          at: 2026-11-21T21:00:00Z
          ride: none
          phones: [{ name: mine, app: customer, owner_id: u1, time_zone: Asia/Tokyo }]
        never: { rings-between: "06:15-06:45" }
        tests:
          - name: t
            when: [{ at: 30m, event: nearby, data: { customer_id: u1 } }]
            then: [{ at: 30m, screen: { mine: { rang: 1 } } }]
        """#, rules: Self.rules)
    #expect(
      found.first?.hasSuffix("t: mine rang at 2026-11-22 06:30:00 +09:00, by nearby") == true,
      "\(found)")
  }

  @Test func `An alert with its own channel is as time-sensitive on Android as its rule`() {
    let rules = Self.rules.replacing(
      "expires: 10m", with: "android: { channel: ride_offers }\n    expires: 10m")
    let android = "phones: [{ name: mine, app: customer, platform: android }]"
    let found = Self.messages("{ time-sensitive-per-ride: 0 }", phones: android, rules: rules)
    #expect(
      found.first?.hasSuffix("too many time-sensitive alerts: 1, at most 0") == true, "\(found)")
    #expect(Self.messages("{ time-sensitive-per-ride: 1 }", phones: android, rules: rules) == [])
  }

  /// (never, a part of the only message)
  private static let wrong = [
    ("{ rings: 4 }", "unknown key \"rings\" in never; expected one of rings-between, "),
    (
      "{ rings-between: 22:00 }",
      "rings-between is the text \"22:00\"; expected two times of day such as \"22:00-07:00\""
    ),
    (
      #"{ rings-between: "22:00-22:00" }"#,
      "rings-between is the text \"22:00-22:00\"; expected two times of day"
    ),
    ("{ rings-per-ride: many }", "rings-per-ride is the text \"many\"; expected a whole number"),
    (
      "{ lost-behind: heartbeat }",
      "lost-behind is the text \"heartbeat\"; expected alert or background"
    ),
    (
      "{ lost-behind: liveactivity }",
      "lost-behind is liveactivity, which has tokens of its own and takes no alert's place; "
        + "expected alert or background"
    ),
    ("{}", "never without a key; expected at least one of rings-between, "),
  ]

  @Test(arguments: wrong.indices) func `A mistake in never is reported`(index: Int) {
    let (never, message) = Self.wrong[index]
    let found = Self.messages(never)
    #expect(found.count == 1 && found[0].contains(message), "\(never): \(found)")
  }
}
