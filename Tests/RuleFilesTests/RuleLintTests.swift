import Testing

@testable import RideCore
@testable import RuleFiles

/// The warnings of `check` for valid rule files.
@Suite struct RuleLintTests {
  private func advice(_ change: String) throws -> [String] {
    let yaml = ruleFile(changing: change)
    let rules = try RuleDirectory.parse(files: [("a.yaml", Array(yaml.utf8))]).get().ruleSet
    // The file's only rule does not name most states; that warning has its own test.
    return RuleLint.all(about: rules).filter { $0.rule != nil }
      .map { "\($0.source ?? ""): \($0.rule ?? ""): \($0.text)" }
  }

  private static let long = String(repeating: "long ", count: 40)

  /// A change to a valid rule, and the resulting warnings.
  static let rows: [(String, [String])] = [
    ("", []),
    (
      "-on\n-alert\n-expires\nevery: 19m\nwhile: [ride_started]\nbackground: {}",
      [
        "a.yaml:2: r: every 19m: Apple delivers two or three background pushes an hour at best; "
          + "20m is the shortest period that makes sense"
      ]
    ),
    ("-on\n-alert\n-expires\nevery: 20m\nwhile: [ride_started]\nbackground: {}", []),
    (
      "-on\n-alert\nevery: 20m\nwhile: [ride_started]\nbackground: {}",
      [
        "a.yaml:2: r: background with expires 5m: APNs stores one push for a phone that is off, so "
          + "this one replaces an alert that the phone has not received; leave expires out"
      ]
    ),
    ("-on\n-alert\nevery: 20m\nwhile: [ride_started]\nbackground: {}\nexpires: never-store", []),
    // An alert each minute may be a nuisance, but Apple delivers it.
    ("-on\nevery: 1m\nwhile: [ride_started]", []),
    ("while: [ride_started]", []),
    (
      "on: [no_show, ride_started]\nwhile: [ride_started, requested]",
      [
        "a.yaml:2: r: it can't fire on no_show: while does not name this state, in which the event "
          + "leaves the ride"
      ]
    ),
    ("on: ride_updated\nwhile: ride_started", []),
    (
      "quiet: { from: \"22:00\", to: \"07:00\", then: hold }",
      [
        "a.yaml:2: r: quiet hours last 9h and expires is 5m: of a night only what falls due in its "
          + "last 5m is held, and the rest is suppressed; lengthen expires, or write quiet: off or "
          + "then: drop"
      ]
    ),
    ("quiet: { from: \"22:00\", to: \"07:00\", then: drop }", []),
    ("quiet: { from: \"22:00\", to: \"07:00\", then: hold }\nexpires: 9h", []),
    ("quiet: { from: \"13:00\", to: \"13:15\", then: hold }", []),
    (
      "-on\ncron: 30 22,23 * * *\ntime-zone: ride\n"
        + "quiet: { from: \"22:00\", to: \"07:00\", then: hold }\nexpires: 7h",
      [
        "a.yaml:2: r: it can never be sent: each slot of cron is within its quiet hours, which end "
          + "after it expires"
      ]
    ),
    (
      "-on\ncron: 30 22,23 * * *\ntime-zone: ride\n"
        + "quiet: { from: \"22:00\", to: \"07:00\", then: drop }\nexpires: 9h",
      [
        "a.yaml:2: r: it can never be sent: each slot of cron is within its quiet hours, which drop "
          + "it"
      ]
    ),
    (
      "-on\ncron: 30 6,22 * * *\ntime-zone: ride\n"
        + "quiet: { from: \"22:00\", to: \"07:00\", then: hold }\nexpires: 7h", []
    ),
    (
      "-on\ncron: 0 8 * * *\ndata: { a: \"{{event.data.x}}\" }",
      [
        "a.yaml:2: r: it can never fire: a slot of cron has no data, and {{event.data.x}} has no "
          + "default"
      ]
    ),
    ("-on\ncron: 0 8 * * *\ndata: { a: \"{{event.data.x | default: 'y'}}\" }", []),
    (
      "alert: { title: \"{{ride.id}} {{ride.id}} and a few words\", body: { en: \(long), de: x } }",
      [
        "a.yaml:2: r: title comes to 57 letters if values have 20; a lock screen shows about 50",
        "a.yaml:2: r: body.en comes to 199 letters if values have 20; a lock screen shows about "
          + "180",
      ]
    ),
    (
      "data: { a: \"\(String(repeating: "{{ride.id}}", count: 21))\" }",
      ["a.yaml:2: r: its payload has about 4238 bytes if values have 200; 4096 are allowed"]
    ),
    (
      "data: { a: \(String(repeating: "x", count: 4100)) }",
      [
        "a.yaml:2: r: it can never be sent: its payload has 4138 bytes before anything is filled "
          + "in, 4096 are allowed"
      ]
    ),
    (
      card(),
      [
        "a.yaml:2: r: live-activity has no stale-after: a card that is not reached looks current for "
          + "15m; 2m suits a ride"
      ]
    ),
    (
      card("stale-after: 2m", "start: driver_assigned", "min-interval: 2s"),
      [
        "a.yaml:2: r: min-interval 2s: iOS redraws a card every 5 to 15 seconds at best; 15s is "
          + "the shortest that makes sense",
        "a.yaml:2: r: start on driver_assigned without an alert: Apple requires one, so the phone "
          + "shows the name of the event; define it under alerts",
      ]
    ),
    (
      card(
        "stale-after: 2m", "start: driver_assigned", "alerts: { driver_assigned: { title: x } }"),
      []
    ),
  ]

  @Test func `R95, R98: fields without a known type, and too much data for ActivityKit`() throws {
    let change = """
      -on
      -alert
      live-activity:
        attributes-type: T
        attributes: { map: \(String(repeating: "m", count: 3000)) }
        content-state:
          eta: "{{ride.attributes.eta}}"
          stops: [{ name: { value: "{{ride.attributes.a}}", optional: true } }]
          note: "\(String(repeating: "{{ride.id}}", count: 21))"
        stale-after: 2m
        broadcast: true
      """
    let untyped =
      "can't be inferred, so the app may receive values that it can't decode: write "
      + "{ value: …, type: int } or another type"
    #expect(
      try advice(change) == [
        "a.yaml:2: r: the type of content-state.eta \(untyped)",
        "a.yaml:2: r: the type of content-state.stops[].name \(untyped)",
        "a.yaml:2: r: content-state has about 4642 bytes if values have 200; ActivityKit takes 4096, "
          + "and such a card is not sent",
      ])
  }

  /// What is warned of in the rule `r`, and the warning's text.
  static let deliveries: [(String, [String])] = [
    ("alert: { badge: 0 }", []), ("alert: { sound: default }", []),
    ("expires: 30d", []),
    ("expires: 31d", ["expires 31d: APNs stores a push for 30d at most"]),
    (
      "alert: { title: x, interruption-level: critical, sound: default }",
      [
        "interruption-level critical without a critical sound: it plays none on a silent phone; "
          + "write sound: { name: default, critical: 1, volume: 1 }"
      ]
    ),
    (
      "alert: { title: x, interruption-level: critical, sound: { name: default, critical: 1 } }", []
    ),
    (
      "alert: { title: x, interruption-level: passive, sound: default }",
      ["sound next to interruption-level passive: iOS plays none; leave one of them out"]
    ),
    (
      "-on\nat: pickup_at - 1h\nalert: { title: x, interruption-level: time-sensitive }", []
    ),
    (
      "-on\nat: pickup_at - 2h\nalert: { title: x, interruption-level: time-sensitive }",
      [
        "time-sensitive 2h before: Apple means it for what matters within an hour, and people switch "
          + "it off for apps that overdo it; leave interruption-level out"
      ]
    ),
    ("-on\nat: pickup_at + 2h\nalert: { title: x, interruption-level: time-sensitive }", []),
    (
      "-alert\nwidgets: {}\ndata: { a: 1 }",
      [
        "data next to widgets: iOS does not hand it over; the app reads what changed from its backend"
      ]
    ),
    ("-alert\nwidgets: {}", []), ("-alert\nlocation: {}\ndata: { a: 1 }", []),
    (card("stale-after: 2m", "input-push-channel: dHN0"), []),
    (card("stale-after: 2m", "input-push-channel: \"{{ride.attributes.channel}}\""), []),
    (
      card("stale-after: 2m", "input-push-channel: ride-channel"),
      [
        "input-push-channel \"ride-channel\" is not base64, as every channel ID of APNs is; ridepulse "
          + "channels list prints them"
      ]
    ),
  ]

  @Test(arguments: deliveries.indices)
  func `R103: what APNs or iOS would deliver otherwise`(index: Int) throws {
    let (change, expected) = Self.deliveries[index]
    #expect(try advice(change) == expected.map { "a.yaml:2: r: \($0)" })
  }

  /// A rule next to a stored time-sensitive alert of the same app, and whether it may replace it.
  @Test(arguments: [
    ("every: 20m, while: [requested], expires: 5m, background: {}", true),
    ("every: 20m, while: [requested], background: {}", false),
    (
      "every: 20m, while: [requested], expires: 5m, alert: { title: x, interruption-level: passive }",
      true
    ),
    ("on: no_show, expires: 5m, alert: { title: x, interruption-level: passive }", false),
    ("on: no_show, expires: 5m, alert: { title: x }", false),
  ])
  func `R128: a stored push of lower worth next to a time-sensitive alert`(own: String, warns: Bool)
    throws
  {
    for (app, stored) in [("customer", "5m"), ("driver", "5m"), ("customer", "never-store")] {
      let yaml = """
        rules:
          - name: here
            app: \(app)
            on: driver_arrived
            alert: { title: x, sound: default, interruption-level: time-sensitive }
            expires: \(stored)
          - { name: low, app: customer, \(own) }
        """
      let rules = try RuleDirectory.parse(files: [("a.yaml", Array(yaml.utf8))]).get().ruleSet
      let texts = RuleLint.all(about: rules).filter { $0.rule == "low" }.map(\.text)
      let isWarned = texts.contains { $0.contains(" here, which is time-sensitive") }
      #expect(isWarned == (warns && app == "customer" && stored == "5m"), "\(texts)")
    }
  }

  /// An alert on `no_show` next to a card of the same app: whether it doubles the card's alert.
  @Test(arguments: [
    ("", "alerts: { no_show: { title: x } }", false),
    ("with-card: send", "alerts: { no_show: { title: x } }", true),
    ("with-card: send", "alerts: { ride_started: { title: x } }", false),
    ("", "alerts: { no_show: { title: x } }, broadcast: true", true),
    ("", "broadcast: true", false),
  ])
  func `R103: an alert that doubles its card's`(own: String, card: String, doubles: Bool) throws {
    let yaml = """
      rules:
        - name: a
          app: customer
          on: [no_show, ride_completed]
          alert: { title: x }
          expires: 5m
          \(own)
        - name: c
          app: customer
          live-activity: { attributes-type: T, content-state: {}, stale-after: 2m, \(card) }
          expires: 5m

      """
    let rules = try RuleDirectory.parse(files: [("a.yaml", Array(yaml.utf8))]).get().ruleSet
    let advice = RuleLint.all(about: rules).filter { $0.text.contains("alerts twice") }
    #expect(advice.map(\.source) == (doubles ? ["a.yaml:2"] : []))
    #expect(advice.allSatisfy { $0.text.hasPrefix("no_show alerts twice on a phone") })
  }

  /// Periods of background rules, each with its app and states, and the warning about their total.
  @Test(
    arguments: [
      (["customer every: 20m ride_started", "driver every: 20m ride_started"], nil),
      (["driver every: 20m ride_started", "driver every: 20m driver_arrived"], nil),
      (["driver every: 1h ride_started", "driver every: 30m ride_started"], nil),
      (
        ["driver every: 20m [ride_started, driver_arrived]", "driver every: 30m driver_arrived"],
        "each phone of the driver gets 5 background pushes an hour while driver_arrived: r0 at "
          + "a.yaml:2, r1 at a.yaml:7; APNs delivers two or three, so combine the rules or "
          + "lengthen their periods"
      ),
      (
        ["driver every: 20m ride_started", "driver cron: '*/30 8 * * *' ride_started"],
        "each phone of the driver gets 5 background pushes an hour while ride_started: r0 at "
          + "a.yaml:2, r1 at a.yaml:7; APNs delivers two or three, so combine the rules or "
          + "lengthen their periods"
      ),
    ] as [([String], String?)])
  func `R103: heartbeats count for each app, over all rules`(rules: [String], warning: String?)
    throws
  {
    var yaml = "rules:\n"
    for (index, rule) in rules.enumerated() {
      let parts = rule.split(separator: " ", maxSplits: 1)
      let cut = parts[1].lastIndex(of: parts[1].hasSuffix("]") ? "[" : " ") ?? parts[1].endIndex
      let states = parts[1][cut...].trimmingPrefix(" ")
      yaml += """
          - name: r\(index)
            app: \(parts[0])
            \(parts[1][..<cut])
            while: \(states)
            background: {}

        """
    }
    let set = try RuleDirectory.parse(files: [("a.yaml", Array(yaml.utf8))]).get().ruleSet
    let advice = RuleLint.all(about: set).filter { $0.rule != nil }
    #expect(advice.map(\.text) == [warning].compactMap(\.self))
    #expect(RuleLint.heartbeats(in: set) == advice)
  }

  private static func card(_ lines: String...) -> String {
    let all = ["attributes-type: T", "content-state: { s: \"{{ride.state}}\" }"] + lines
    return "-on\n-alert\nlive-activity:\n" + all.map { "  \($0)\n" }.joined()
  }

  @Test(arguments: rows.indices)
  func warnings(index: Int) throws {
    let (change, expected) = Self.rows[index]
    #expect(try advice(change) == expected)
  }

  /// Rules next to each other, and the circle that `check` warns of; nil if it warns of none.
  static let circles: [([String], String?)] = [
    (["at: ping + 1s, emit: pong", "on: pong, emit: ping"], "r0 emits pong, r1 emits ping"),
    (["on: pong, emit: ping", "at: ping + 1s, emit: pong"], "r0 emits ping, r1 emits pong"),
    (["at: [ping + 1s, pong + 1s], emit: ping"], "r0 emits ping"),
    (["while: [ride_started], at: ping + 1s, emit: pong", "on: pong, emit: ping"], nil),
    (
      ["while: [no_show], at: ping + 1s, emit: pong", "on: pong, emit: ping"],
      "r0 emits pong, r1 emits ping"
    ),
    (["at: ping + 1s, emit: pong"], nil),
    (
      [
        "on: ping, alert: { title: x }, expires: 5m, "
          + "escalate: { unless-seen-within: 5s, emit: pong }", "on: pong, emit: ping",
      ], "r0 emits pong, r1 emits ping"
    ),
    (
      [
        "on: ping, if: ride.state != 'no_show', alert: { title: x }, expires: 5m, "
          + "escalate: { unless-seen-within: 5s, emit: pong }", "on: pong, emit: ping",
      ], nil
    ),
    (["at: ping + 1s, emit: ping"], "r0 emits ping"),
    (["at: ping + 1s, while: [ride_started], emit: ping"], nil),
    (
      ["at: pong + 1s, emit: ping", "on: no_show, emit: pong", "on: ping, emit: pong"],
      "r0 emits ping, r2 emits pong"
    ),
  ]

  @Test(arguments: circles.indices)
  func `A14: rules that fire each other again and again, without while`(index: Int) throws {
    let (rules, circle) = Self.circles[index]
    let lines = rules.enumerated().map { "  - { name: r\($0), app: driver, \($1) }\n" }
    let yaml = "events: [ping, pong]\nrules:\n" + lines.joined()
    let set = try RuleDirectory.parse(files: [("a.yaml", Array(yaml.utf8))]).get().ruleSet
    let advice = RuleLint.all(about: set).map(\.text).filter { $0.hasPrefix("rules that fire") }
    let expected = circle.map {
      "rules that fire each other again and again: \($0); write while with active states in one of "
        + "them, or they end only at 200 events within 10m, and 100 after the ride's end"
    }
    #expect(advice == [expected].compactMap(\.self))
  }

  @Test func statesThatNoRuleNames() throws {
    let yaml = "states: { active: [a, b, c], final: [d] }\n" + ruleFile(changing: "on: [a, d]")
    let rules = try RuleDirectory.parse(files: [("a.yaml", Array(yaml.utf8))]).get().ruleSet
    let advice = RuleLint.all(about: rules).map(\.text)
    #expect(advice == ["no rule matches b, c"])
  }
}
