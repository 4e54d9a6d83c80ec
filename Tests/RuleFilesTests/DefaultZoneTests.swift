import Testing

@testable import Base
@testable import RideCore
@testable import RuleFiles

/// `defaults.time-zone`, and the warning if an event about no ride has no zone.
@Suite struct DefaultZoneTests {
  private func rules(_ rule: String, defaults: String = "") throws -> RuleSet {
    let yaml = """
      states: { active: [requested], final: [done] }
      events: [expires]
      \(defaults)
      rules:
        - name: r
          app: driver
          expires: 5m
          \(rule.replacing("\n", with: "\n    "))

      """
    return try RuleDirectory.parse(files: [("a.yaml", Array(yaml.utf8))]).get().ruleSet
  }

  private func warnings(_ rules: RuleSet) -> [String] {
    RuleLint.all(about: rules).map(\.text).filter { $0.contains("in UTC") }
  }

  private static let zones = "defaults: { time-zone: Europe/Vienna }"

  @Test(
    arguments: [
      ("on: expires\nalert: { title: \"{{event.at | time}}\" }", "its times"),
      (
        "on: expires\ncollapse: a\nalert: { title: x }\ndata: { at: \"{{event.at | date}}\" }",
        "its times"
      ),
      (
        "on: expires\nalert: { title: x }\nquiet: { from: \"13:00\", to: \"13:02\", then: drop }",
        "its quiet hours"
      ),
      (
        "on: expires\nalert: { title: \"{{event.at | weekday}}\" }\n"
          + "quiet: { from: \"13:00\", to: \"13:02\", then: drop }",
        "its times and its quiet hours"
      ),
      ("on: expires\nalert: { title: \"{{event.at | time: phone}}\" }", "its times"),
      (
        "on: expires\nalert: { title: x }\n"
          + "quiet: { from: \"13:00\", to: \"13:02\", time-zone: phone, then: drop }",
        "its quiet hours"
      ),
      ("on: expires\nalert: { title: \"{{event.at | time: 'Asia/Tokyo'}}\" }", nil),
      ("on: expires\nalert: { title: \"{{event.at | relative}}\" }", nil),
      (
        "on: expires\nalert: { title: x }\n"
          + "quiet: { from: \"13:00\", to: \"13:02\", time-zone: UTC, then: drop }", nil
      ),
      // What needs a ride is for no other event.
      ("on: expires\nalert: { title: \"{{ride.pickup_at | time}}\" }", nil),
      (
        "on: expires\nif: ride.state == 'requested'\nalert: { title: \"{{event.at | time}}\" }", nil
      ),
      ("on: expires\nwhile: [requested]\nalert: { title: \"{{event.at | time}}\" }", nil),
      ("on: requested\nalert: { title: \"{{event.at | time}}\" }", nil),
    ] as [(String, String?)])
  func `U6: a clock without a zone is a warning`(_ rule: String, _ what: String?) throws {
    let expected = what.map {
      "\($0) are in UTC on a phone that has registered no time zone, if an event about no ride fires "
        + "it; set defaults: { time-zone: Europe/Berlin }, or the zone of your riders"
    }
    #expect(warnings(try rules(rule)) == [expected].compactMap(\.self))
    #expect(warnings(try rules(rule, defaults: Self.zones)) == [])
  }

  @Test func `U6: it is the name of a zone`() throws {
    let rule = "on: expires\nalert: { title: x }"
    #expect(try rules(rule, defaults: Self.zones).defaults.zone?.identifier == "Europe/Vienna")
    for wrong in ["ride", "ACT", "GMT+18", "Europe/Wien", "[UTC]"] {
      let error = #expect(throws: RuleProblems.self) {
        try rules(rule, defaults: "defaults: { time-zone: \(wrong) }")
      }
      #expect("\(error.map { "\($0)" } ?? "")".contains("a name of the tz database"), "\(wrong)")
    }
  }
}
