import Testing

@testable import Base
@testable import RideCore
@testable import RuleFiles

/// What `check` warns of about Android phones, and for whom.
@Suite struct AndroidLintTests {
  /// Returns the warnings that a service with FCM gets and one without does not.
  private func advice(_ change: String) throws -> [String] {
    let bytes = Array(ruleFile(changing: change).utf8)
    let loaded = try RuleDirectory.parse(files: [("a.yaml", bytes)]).get()
    let usual = loaded.lints(hasFCM: false)
    return loaded.lints(hasFCM: true).filter { !usual.contains($0) }
      .map { "\($0.source ?? ""): \($0.text)" }
  }

  private static let card = "-on\n-alert\nlive-activity: { attributes-type: A, content-state: {}, "
  private static let long = String(repeating: "long ", count: 650)

  private static let rows: [(change: String, warnings: [String])] = [
    ("", []),
    ("data: { ride: x, rp: 1, fro: 2 }", []),
    (
      "data: { from: x, rp_a: 1, google.b: 2, gcm: 3, a: 4 }",
      [("from", 13), ("gcm", 44), ("google.b", 31), ("rp_a", 22)].map { key, column in
        "a.yaml:7:\(column): the key \"\(key)\" in data is not sent to Android: FCM or RidePulse keeps "
          + "it to itself, and the push is suppressed there; rename it"
      }
    ),
    ("-alert\nwidgets: {}\ndata: { from: x }", []),
    ("alert: { title-loc-key: RIDE_1, loc-key: _x }", []),
    (
      "alert: { title-loc-key: ride.arrived, loc-key: 1x }",
      [
        "a.yaml:5:14: title-loc-key \"ride.arrived\" can't name a string of an Android app: such "
          + "names have letters, digits and _, and no digit first",
        "a.yaml:5:43: loc-key \"1x\" can't name a string of an Android app: such names have letters, "
          + "digits and _, and no digit first",
      ]
    ),
    (
      card + "start: no_show, alerts: { no_show: { loc-key: a b } } }",
      [
        "a.yaml:5:98: loc-key \"a b\" can't name a string of an Android app: such names have letters, "
          + "digits and _, and no digit first"
      ]
    ),
    (
      "alert: { title: x, subtitle-loc-key: K }",
      [
        "a.yaml:5:24: subtitle-loc-key is left out on Android, whose alerts have a title and a body; "
          + "write subtitle, or put it into the body"
      ]
    ),
    (
      "alert: { badge: 1 }",
      ["a.yaml:5:14: badge without a text reaches iPhones only: Android shows it next to an alert"]
    ),
    ("alert: { title: x, sound: default }", []),
    ("alert: { title: x, sound: horn.caf }\nandroid: { channel: horn }", []),
    (
      "alert: { title: x, sound: horn.caf }",
      [
        "a.yaml:5:24: the sound \"horn.caf\" is not played on Android, where a channel has its own; "
          + "write android: { channel: … } with a channel of that sound"
      ]
    ),
    (card + "start: no_show }", []),
    (
      card + "broadcast: true }",
      ["a.yaml:5:61: Android phones show no card of it: FCM has no broadcast channels"]
    ),
    (
      card + "min-interval: 1s, urgent: [no_show, ride_started, requested], start: requested, "
        + "alerts: { no_show: { title: x }, scheduled: { title: x }, driver_arrived: { title: x } } }",
      [
        "a.yaml:5:61: min-interval 1s with 5 urgent events allows 300 pushes a minute; FCM takes 240 "
          + "for a phone"
      ]
    ),
    (
      card + "stale-after: 2m }",
      [
        "a.yaml:5:5: live-activity without start: Android phones show no card, because there a push "
          + "starts it"
      ]
    ),
    (
      "data: { a: \"\(long)\", b: \"{{ride.id}}\" }",
      [
        "a.yaml:2: its message to Android phones has about 3695 bytes if values have 200; 4096 are "
          + "allowed"
      ]
    ),
  ]

  @Test(arguments: rows.indices)
  func aRule(index: Int) throws {
    let row = Self.rows[index]
    #expect(try advice(row.change) == row.warnings, "\(row.change)")
  }

  @Test func aBackgroundPushThatWakesPhones() throws {
    let change = "-alert\nbackground: {}\nandroid: { priority: high }"
    let rule = Array(ruleFile(changing: change).utf8)
    let lints = try RuleDirectory.parse(files: [("a.yaml", rule)]).get().lints(hasFCM: false)
    let texts = lints.map { "\($0.source ?? ""): \($0.text)" }
    #expect(
      texts.contains(
        "a.yaml:7:16: priority high next to background: Google demotes apps whose high-priority "
          + "messages show nothing"), "\(texts)")
  }

  @Test func aRuleWithAndroidIsEnoughForWarnings() throws {
    let changes = ["data: { from: x }", "data: { from: x }\nandroid: {}"]
    let counts = try changes.map { change in
      let rule = Array(ruleFile(changing: change).utf8)
      let lints = try RuleDirectory.parse(files: [("a.yaml", rule)]).get().lints(hasFCM: false)
      return lints.count { $0.text.contains("Android") }
    }
    #expect(counts == [0, 1])
  }

  @Test(arguments: [8, 9]) func channelsAreCountedInAllRules(count: Int) throws {
    let rules = (1...count).map {
      "  - { name: r\($0), app: a, on: no_show, alert: { title: x }, android: { channel: c\($0) }, "
        + "expires: 5m }\n"
    }
    let yaml = "rules:\n" + rules.joined()
    let lints = try RuleDirectory.parse(files: [("a.yaml", Array(yaml.utf8))]).get()
      .lints(hasFCM: false)
    #expect(lints.contains { $0.text.contains("notification channels on Android") } == (count > 8))
  }

  @Test func aDefaultHasNoPlaceInTheRulesFile() throws {
    let defaults = "defaults: { apps: { customer: { data: { from: x } } } }"
    let files = [("a.yaml", ruleFile()), ("z.yaml", defaults)]
    let loaded = try RuleDirectory.parse(files: files.map { ($0.0, Array($0.1.utf8)) }).get()
    let lints = loaded.lints(hasFCM: true).filter { $0.text.contains("\"from\"") }
    #expect(lints.map(\.source) == ["a.yaml:2"])
  }
}
