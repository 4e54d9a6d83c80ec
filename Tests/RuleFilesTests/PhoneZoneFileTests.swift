import Testing

@testable import Base
@testable import RideCore
@testable import RuleFiles

/// `phone` as a zone in rule files.
@Suite("The phone's zone in rule files") struct PhoneZoneFileTests {
  private func rules(_ rule: String) throws -> RuleSet {
    let yaml = """
      states: { active: [requested], final: [done] }
      rules:
        - name: r
          app: customer
          \(rule.replacing("\n", with: "\n    "))

      """
    return try RuleDirectory.parse(files: [("a.yaml", Array(yaml.utf8))]).get().ruleSet
  }

  private func mistake(_ rule: String) -> String {
    do {
      _ = try rules(rule)
      return "accepted"
    } catch {
      return "\(error)"
    }
  }

  @Test func `quiet hours may be kept by each phone`() throws {
    let rule = """
      on: requested
      expires: 12h
      alert: { title: x }
      quiet: { from: "22:00", to: "07:00", time-zone: phone, then: hold }
      """
    #expect(try rules(rule).rules.first?.limits.quiet?.zone == .phone)
    #expect(mistake(rule.replacing("phone", with: "phon")).contains("did you mean \"phone\"?"))
  }

  @Test(arguments: ["time", "date", "weekday"])
  func `a text may show the phone's clock`(filter: String) throws {
    let rule = "on: requested\nexpires: 5m\nalert: { title: \"{{event.at | \(filter): phone}}\" }"
    let payload = try #require(try rules(rule).rules.first?.payload)
    #expect(CompiledPayload(payload).clocks == [.phone])
  }

  @Test(
    arguments: [
      (
        "on: requested\nexpires: 5m\nalert: { title: \"{{event.at | time: phones}}\" }",
        "expected phone, or a time zone in quotes, such as 'Europe/Vienna'; did you mean \"phone\"?"
      ),
      (
        "on: requested\nexpires: 5m\nalert: { title: x }\ncollapse: \"{{event.at | date: phone}}\"",
        "collapse shows a time of the phone's clock; expected one collapse ID for all phones"
      ),
      (
        """
        live-activity:
          attributes-type: T
          broadcast: true
          while: [requested]
          content-state: { at: { value: "{{ride.pickup_at | time: phone}}", type: string } }
          end: { done: 5m }
        expires: 5m
        """,
        "a time of the phone's clock in content-state, next to broadcast"
      ),
      (
        "cron: \"0 8 * * *\"\ntime-zone: phone\nwhile: [requested]\nexpires: 1h\nalert: { title: x }",
        "expected ride (the ride's own zone), or a name of the tz database"
      ),
    ])
  func `what all phones share has no clock of a phone`(rule: String, message: String) {
    let found = mistake(rule)
    #expect(found.contains(message), "\(found)")
  }
}
