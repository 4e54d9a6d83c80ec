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
      "-on\n-alert\nevery: 19m\nwhile: [ride_started]\nbackground: {}",
      [
        "a.yaml:2: r: every 19m: Apple delivers two or three background pushes an hour at best; "
          + "20m is the shortest period that makes sense"
      ]
    ),
    ("-on\n-alert\nevery: 20m\nwhile: [ride_started]\nbackground: {}", []),
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
    let name = String(repeating: "m", count: 3000)
    let change = """
      -on
      -alert
      live-activity:
        attributes-type: T
        attributes: { map: \(name) }
        content-state:
          eta: "{{ride.attributes.eta}}"
          stops: [{ name: { value: "{{ride.attributes.a}}", optional: true } }]
          note: "\(String(repeating: "{{ride.id}}", count: 6))"
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
        "a.yaml:2: r: attributes and content-state have about 4652 bytes if values have 200; "
          + "ActivityKit takes 4096 together, and such a card is not sent",
      ])
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

  @Test func statesThatNoRuleNames() throws {
    let yaml = "states: { active: [a, b, c], final: [d] }\n" + ruleFile(changing: "on: [a, d]")
    let rules = try RuleDirectory.parse(files: [("a.yaml", Array(yaml.utf8))]).get().ruleSet
    let advice = RuleLint.all(about: rules).map(\.text)
    #expect(advice == ["no rule matches b, c"])
  }
}
