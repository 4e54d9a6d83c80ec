import Testing

@testable import Base
@testable import RideCore
@testable import RuleFiles

/// The meaning of a valid rule: each key sets the right property.
@Suite struct MeaningTests {
  private func rule(_ change: String = "") throws -> Rule {
    let file = (name: "a.yaml", bytes: Array(ruleFile(changing: change).utf8))
    let loaded = try RuleDirectory.parse(files: [file]).get()
    return try #require(loaded.ruleSet.rules.first)
  }

  private func aps(_ alert: String) throws -> String {
    let compiled = CompiledRule(try rule("alert: " + alert))
    var ride = Ride(id: "r1", state: "ride_started")
    ride.attributes = #"{"n": 3}"#
    let event = RideEvent(id: 1, name: "ride_started", at: Timestamp(epochSeconds: 0))
    let scope = TemplateContext(
      ride: ride, attributes: JSONValue(json: ride.attributes.utf8), event: event)
    return String(decoding: try compiled.payload.render(in: scope, locale: "de"), as: UTF8.self)
  }

  @Test func theRule() throws {
    let rule = try rule("collapse: \"ride-{{ride.id}}\"\npriority: 5")
    #expect(rule.name == "r")
    #expect(rule.app == .customer)
    #expect(rule.when == .on(["ride_started"]))
    #expect(rule.expires == .after(.seconds(300)))
    #expect(rule.collapse == (try TextTemplate("ride-{{ride.id}}")))
    #expect(rule.what.priority == .powerAware)
    #expect(rule.source == "a.yaml:2")
    #expect(try self.rule().collapse == nil)
    #expect(try self.rule("expires: never-store").expires == .neverStore)
    let background = try self.rule("-alert\n-expires\nbackground: {}")
    #expect(background.expires == .ofBackground && background.validity == .seconds(300))
    #expect(
      try self.rule("-on\n-alert\n-expires\nevery: 2m\nwhile: ride_started\nbackground: {}")
        .validity == .seconds(120))
    #expect(try self.rule("-alert\nbackground: {}").expires == .after(.seconds(300)))
    #expect(try self.rule("on: [no_show, ride_updated]").when == .on(["no_show", "ride_updated"]))
    #expect(
      try self.rule("while: [ride_started]").when
        == .on(["ride_started"], while: ["ride_started"]))
    #expect(
      try self.rule("-on\nevery: 20m\nwhile: ride_started\nlost-after: 2h").when
        == .at(
          Timing(.every(.seconds(1200)), while: ["ride_started"], lostAfter: .seconds(7200))))
    #expect(try self.rule("app: courier_2").app == App(rawValue: "courier_2"))
    #expect(
      try self.rule("app: [driver, fleet]").apps == [.driver, App(rawValue: "fleet")])
  }

  @Test(arguments: [
    ("{ title: x }", #"{"alert":{"title":"x"}}"#),
    (
      "{ title: a, subtitle: b, body: c, sound: default, badge: 3, interruption-level: passive }",
      #"{"alert":{"body":"c","subtitle":"b","title":"a"},"badge":3,"#
        + #""interruption-level":"passive","sound":"default"}"#
    ),
    (
      "{ body: x, badge: \"{{ride.attributes.n}}\" }", #"{"alert":{"body":"x"},"badge":3}"#
    ),
    (
      "{ body: x, thread-id: \"{{ride.id}}\", category: C, target-content-id: t }",
      #"{"alert":{"body":"x"},"category":"C","target-content-id":"t","thread-id":"r1"}"#
    ),
    (
      "{ body: x, relevance-score: 0.5, mutable-content: true }",
      #"{"alert":{"body":"x"},"mutable-content":1,"relevance-score":0.5}"#
    ),
    (
      "{ body: x, relevance-score: 1, mutable-content: false }",
      #"{"alert":{"body":"x"},"relevance-score":1}"#
    ),
    (
      "{ loc-key: K, loc-args: [a, \"{{ride.id}}\"], title-loc-key: T, subtitle-loc-key: S }",
      #"{"alert":{"loc-args":["a","r1"],"loc-key":"K","subtitle-loc-key":"S","#
        + #""title-loc-key":"T"}}"#
    ),
    ("{ badge: 3 }", #"{"badge":3}"#), ("{ sound: default }", #"{"sound":"default"}"#),
    (
      "{ body: x, content-available: true }", #"{"alert":{"body":"x"},"content-available":1}"#
    ),
    (
      "{ body: x, sound: { name: \"{{ride.id}}.caf\", critical: 1, volume: 0.5 } }",
      #"{"alert":{"body":"x"},"sound":{"critical":1,"name":"r1.caf","volume":0.5}}"#
    ),
    (
      "{ body: x, sound: { name: default, critical: 1 } }",
      #"{"alert":{"body":"x"},"sound":{"critical":1,"name":"default"}}"#
    ),
    ("{ title: { en: x, de: y } }", #"{"alert":{"title":"y"}}"#),
    ("{ title: { en: x, default: y } }", #"{"alert":{"title":"y"}}"#),
  ])
  func theAlert(yaml: String, aps expected: String) throws {
    #expect(try aps(yaml) == #"{"aps":"# + expected + "}")
  }

  /// The key that determines what a rule sends, the push that it leads to, and the priority if the
  /// rule states none.
  static let types: [(yaml: String, type: PushType, aps: String, priority: PushPriority)] = [
    ("background: {}", .background, #"{"content-available":1}"#, .powerAware),
    ("widgets: {}", .widgets, #"{"content-changed":true}"#, .immediate),
    ("controls: {}", .controls, #"{"content-changed":true}"#, .immediate),
    ("location: {}", .location, "{}", .immediate),
  ]

  @Test(arguments: types)
  func `R101: pushes that show nothing`(
    yaml: String, type: PushType, aps: String, priority: PushPriority
  ) throws {
    let rule = try rule("-alert\n\(yaml)\ndata: { a: 1 }")
    #expect(rule.what.pushType == type && rule.what.priority == priority)
    let event = RideEvent(id: 1, name: "e", at: Timestamp(epochSeconds: 0))
    let context = TemplateContext(
      ride: Ride(id: "r1", state: nil), attributes: nil, event: event)
    let payload = try CompiledRule(rule).payload.render(in: context, locale: nil)
    #expect(String(decoding: payload, as: UTF8.self) == #"{"a":1,"aps":"# + aps + "}")
    if type == .background { return }
    let slow = try self.rule("-alert\n\(yaml)\npriority: 1")
    #expect(slow.what.priority == .unobtrusive)
  }

  @Test(
    arguments: [
      ("title: x", 5), ("title: x, sound: default", 10), ("badge: 1", 5), ("sound: default", 10),
      ("title: x, interruption-level: active", 5),
      ("title: x, interruption-level: active, sound: default", 10),
      ("title: x, interruption-level: passive", 5),
      ("title: x, interruption-level: passive, sound: default", 5),
      ("title: x, interruption-level: time-sensitive", 10),
      ("title: x, interruption-level: critical", 10),
      ("title: x, sound: { name: default, critical: 1 }", 10),
    ])
  func `R101: the priority of an alert follows from its level and sound`(alert: String, number: Int)
    throws
  {
    #expect(try rule("alert: { \(alert) }").what.priority.rawValue == number)
    for stated in [1, 5, 10] {
      let rule = try rule("alert: { \(alert) }\npriority: \(stated)")
      #expect(rule.what.priority.rawValue == stated)
    }
  }

  @Test func theLifeOfACard() throws {
    func card(_ line: String) throws -> LiveActivity? {
      let change =
        "-on\n-alert\nlive-activity:\n  attributes-type: T\n  content-state: {}\n  \(line)"
      guard case .liveActivity(let life) = try rule(change).what else { return nil }
      return life
    }
    let ends = try card("end: { ride_completed: 15m, no_show: 0s }")
    #expect(ends?.end == ["ride_completed", "no_show"])
    #expect(ends?.dismissals == ["ride_completed": .seconds(900), "no_show": .zero])
    let listed = try card("end: [ride_completed]")
    #expect(listed?.end == ["ride_completed"] && listed?.dismissals == [:])
    #expect(try card("relevance: { no_show: 2.5 }")?.relevance == ["no_show": 2.5])
    #expect(
      try card("from: pickup_at - 30m")?.from == CardOpening(.pickupAt, offset: .seconds(-1800)))
    #expect(
      try card("from: attributes.gate.at + 1h")?.from
        == CardOpening(.attribute(["gate", "at"]), offset: .seconds(3600)))
    #expect(try card("from: pickup_at")?.from == CardOpening(.pickupAt))
    let stale = try card("stale-after: { default: 5m, ride_started: 20m }")
    #expect(stale?.staleAfter == .seconds(300))
    #expect(stale?.staleAfterByState == ["ride_started": .seconds(1200)])
    #expect(try card("urgent: [no_show]")?.wantsPushToken == true)
    #expect(try card("input-push-token: false")?.wantsPushToken == false)
    #expect(try card("input-push-channel: YQ==")?.wantsPushToken == false)
    #expect(try card("input-push-channel: YQ==")?.pushChannel == (try TextTemplate("YQ==")))
  }

  @Test(arguments: [
    ("on", #""on""#), ("yes", #""yes""#), ("\"5\"", #""5""#), ("'true'", #""true""#),
    ("5", "5"), ("-7", "-7"), ("007", "7"), ("0o17", "15"), ("0x1F", "31"), ("1_000", #""1_000""#),
    ("1.5", "1.5"), ("1e3", "1000"), (".5", "0.5"), ("2.", "2"), (".", #"".""#), ("e3", #""e3""#),
    ("-a", #""-a""#), ("0x", #""0x""#), ("1.2.3", #""1.2.3""#), ("12:30", #""12:30""#),
    ("2026-11-21", #""2026-11-21""#), ("9223372036854775807", "9223372036854775807"),
    ("true", "true"), ("False", "false"), ("tRue", #""tRue""#), ("null", "null"), ("~", "null"),
    ("", "null"), ("''", #""""#), ("[1, [a], {b: null}]", #"[1,["a"],{"b":null}]"#), ("{}", "{}"),
    ("\"{{ride.attributes.n}}\"", "3"), ("\"n {{ride.attributes.n}}\"", #""n 3""#),
    ("\"{{ride.attributes}}\"", #"{"n":3}"#), ("\"a\\n\\u00e9\"", #""a\né""#),
  ])
  func theData(yaml: String, json: String) throws {
    let compiled = CompiledPayload(.object(try rule("data: { x: \(yaml) }").data))
    var ride = Ride(id: "r1", state: nil)
    ride.attributes = #"{"n": 3}"#
    let scope = TemplateContext(
      ride: ride, attributes: JSONValue(json: ride.attributes.utf8),
      event: RideEvent(id: 1, name: "e", at: Timestamp(epochSeconds: 0)))
    let rendered = try compiled.render(in: scope, locale: nil)
    #expect(String(decoding: rendered, as: UTF8.self) == #"{"x":"# + json + "}")
  }
}
