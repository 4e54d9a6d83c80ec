import Testing

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
    #expect(try self.rule().what.priority == .immediate)
    #expect(try self.rule().collapse == nil)
    #expect(try self.rule("expires: never-store").expires == .neverStore)
    #expect(try self.rule("on: [no_show, ride_updated]").when == .on(["no_show", "ride_updated"]))
    #expect(
      try self.rule("while: [ride_started]").when
        == .on(["ride_started"], while: ["ride_started"]))
    #expect(
      try self.rule("-on\nevery: 20m\nwhile: ride_started\nlost-after: 2h").when
        == .at(
          Timing(.every(.seconds(1200)), while: ["ride_started"], lostAfter: .seconds(7200))))
    #expect(try self.rule("app: courier_2").app == App(rawValue: "courier_2"))
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
    ("{ title: { en: x, de: y } }", #"{"alert":{"title":"y"}}"#),
    ("{ title: { en: x, default: y } }", #"{"alert":{"title":"y"}}"#),
  ])
  func theAlert(yaml: String, aps expected: String) throws {
    #expect(try aps(yaml) == #"{"aps":"# + expected + "}")
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
