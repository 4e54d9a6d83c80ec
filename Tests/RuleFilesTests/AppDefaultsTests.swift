import Testing

@testable import Base
@testable import RideCore
@testable import RuleFiles

/// `defaults.apps`: what a rule takes from its app, and what it removes.
@Suite struct AppDefaultsTests {
  private static let defaults = """
    defaults:
      apps:
        customer:
          collapse: "ride-{{ride.id}}"
          data: { ride_id: "{{ride.id}}", event: "{{event.name}}" }
          expires: 7m
          alert: { thread-id: t, category: C }
    """

  /// Returns the rule of one file, with the defaults in another.
  private func rule(_ change: String, defaults: String = Self.defaults) throws -> Rule {
    let files = [("a.yaml", ruleFile(changing: change)), ("z.yaml", defaults)]
    let loaded = try RuleDirectory.parse(files: files.map { ($0.0, Array($0.1.utf8)) }).get()
    return try #require(loaded.ruleSet.rules.first)
  }

  /// Expects a rule with defaults to equal one that states everything.
  private func expectEqual(_ short: String, _ long: String) throws {
    let expected = try rule(long, defaults: "events: [unused]")
    let found = try rule(short)
    #expect(found.data == expected.data, "\(short)")
    #expect(found.expires == expected.expires, "\(short)")
    #expect(found.collapse == expected.collapse, "\(short)")
    #expect(found.what == expected.what, "\(short)")
  }

  private static let data = "ride_id: \"{{ride.id}}\", event: \"{{event.name}}\""

  @Test func aRuleTakesWhatItDoesNotState() throws {
    try expectEqual(
      "-expires\nalert: { title: x }",
      "expires: 7m\ncollapse: \"ride-{{ride.id}}\"\ndata: { \(Self.data) }\n"
        + "alert: { title: x, thread-id: t, category: C }")
  }

  @Test func aRulesOwnKeyWinsAndMapsAreMerged() throws {
    try expectEqual(
      "expires: 1m\ncollapse: own\ndata: { event: e, more: 1 }\nalert: { title: x, category: D }",
      "expires: 1m\ncollapse: own\ndata: { ride_id: \"{{ride.id}}\", event: e, more: 1 }\n"
        + "alert: { title: x, thread-id: t, category: D }")
  }

  @Test func noneRemoves() throws {
    try expectEqual(
      "-expires\ncollapse: none\ndata: { event: none }\nalert: { title: x, thread-id: none }",
      "expires: 7m\ndata: { ride_id: \"{{ride.id}}\" }\nalert: { title: x, category: C }")
  }

  @Test func aBackgroundPushTakesOnlyData() throws {
    try expectEqual(
      "-expires\n-alert\nbackground: {}", "-expires\n-alert\nbackground: {}\ndata: { \(Self.data) }"
    )
  }

  @Test func androidIsMergedByKey() throws {
    let defaults = "defaults: { apps: { customer: { android: { channel: c, priority: high } } } }"
    func style(_ change: String) throws -> AndroidStyle? {
      try rule(change, defaults: defaults).android
    }
    var expected = AndroidStyle()
    (expected.channel, expected.isHighPriority) = ("c", true)
    #expect(try style("") == expected)
    expected.draw = .app
    expected.channel = "d"
    #expect(try style("android: { draw: app, channel: d }") == expected)
    expected.channel = nil
    #expect(try style("android: { draw: app, channel: none }") == expected)
    #expect(try style("-alert\nbackground: {}") == nil)
    let wrong = "defaults: { apps: { customer: { android: { channel: C D } } } }"
    let files = [("a.yaml", ruleFile()), ("z.yaml", wrong)]
    #expect(
      problems(in: files.map { ($0.0, Array($0.1.utf8)) }) == [
        "z.yaml:1:53: channel is the text \"C D\"; expected a channel such as ride_now: a-z, 0-9, -, _ "
          + "and ., at most 60; did you mean \"c_d\"?"
      ])
  }

  @Test func otherAppsAndListsOfAppsTakeNothing() throws {
    for app in ["driver", "[customer, driver]"] {
      let rule = try rule("app: \(app)\nalert: { title: x }")
      #expect(rule.collapse == nil && rule.data.isEmpty, "\(app)")
    }
  }

  @Test func aWrongDefaultIsReportedOnceWhereItIs() {
    let files = [
      ("a.yaml", ruleFile(changing: "-expires\nalert: { title: x }")),
      ("z.yaml", "defaults: { apps: { customer: { expires: 5 } } }"),
    ]
    #expect(
      problems(in: files.map { ($0.0, Array($0.1.utf8)) }) == [
        "z.yaml:1:42: expires is the number 5; "
          + "expected a duration such as 5m or 1h30m, or never-store"
      ])
  }

  @Test(arguments: [
    ("[1]", "apps is a list; expected a map of app"),
    ("{ Customer: {} }", "\"Customer\" as an app in defaults"),
    ("{ customer: { topic: t } }", "unknown key \"topic\" in the defaults of customer"),
    ("{ customer: { collapse: \"{{ride.idd}}\" } }", "in a placeholder of collapse"),
    ("{ customer: { alert: { title: x } } }", "unknown key \"title\" in the alert of an app"),
  ])
  func wrongDefaultsAreRefused(_ apps: String, _ message: String) {
    let found = problems(in: [("a.yaml", Array("defaults: { apps: \(apps) }".utf8))])
    #expect(found.count == 1 && found[0].contains(message), "\(found)")
  }
}
