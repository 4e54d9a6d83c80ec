import Testing

@testable import RideCore
@testable import Timeline
@testable import RuleFiles

/// What tests exercise of rules.
@Suite struct RuleCoverageTests {
  private func coverage(_ yaml: String) throws -> RuleCoverage {
    let file = try RuleTestRules.file(yaml)
    var coverage = RuleCoverage(of: file.rules.ruleSet)
    for test in file.tests {
      coverage.add(RuleTestRun(test, by: file.configuration), of: test)
    }
    return coverage
  }

  private func missing(_ yaml: String) throws -> [String: [String]] {
    Dictionary(try coverage(yaml).sections.map { ($0.name, $0.missing) }) { first, _ in first }
  }

  @Test func `Nothing happens, and everything is missing`() throws {
    let yaml = "tests: [{ name: a, then: [] }]"
    #expect(
      try missing(yaml) == [
        "rules fired": ["arrived", "eta", "offer", "lost", "heartbeat", "card"],
        "rules not sent": ["arrived", "eta", "offer", "lost", "heartbeat", "card"],
        "locales": ["arrived: en", "arrived: de", "card: en", "card: de"],
        "states": ["driver_arrived", "driver_en_route", "requested", "ride_completed"],
        "events": ["driver_lost", "eta_changed", "offer_unseen"],
        "card phases": ["card: start", "card: update", "card: end"],
        "branches of if": ["eta: true", "eta: false"],
      ])
    #expect(try coverage(yaml).percent == 0)
  }

  private static let whole = """
    given:
      ride: { state: requested, customer_id: c, driver_id: d, attributes: { plate: X, eta: 1 } }
      phones:
        - { app: customer, token: 00aa, locale: de-AT, installation_id: i1 }
        - { app: customer, token: 00bb, locale: fr, installation_id: i2 }
        - { app: customer, token: 00dd, locale: de, installation_id: i3 }
        - { app: customer, token: 00ee, locale: fr, installation_id: i4 }
        - { app: driver, token: 00cc }
      push_to_start:
        - { app: customer, token: 5a5a, installation_id: i1 }
        - { app: customer, token: 5b5b, installation_id: i2 }
    tests:
      - name: all that is sent
        when:
          - { at: 1m, event: eta_changed }
          - { at: 2m, attributes: { eta: 9 } }
          - { at: 3m, state: driver_en_route }
          - { at: 30m, state: driver_arrived }
          - { at: 31m, contact: driver }
          - { at: 36m, state: requested }
          - { at: 46m, state: ride_completed }
        for: 1h
        then: { count: 9 }
      - name: nothing without phones
        given: { phones: [], push_to_start: [] }
        when:
          - { at: 1m, attributes: { eta: 9 } }
          - { at: 1m, state: driver_arrived }
          - { at: 2m, state: requested }
          - { at: 3m, state: driver_en_route }
        for: 1h
        then: { count: 0 }

    """

  @Test func `Everything that can be is exercised`() throws {
    let missing = try missing(Self.whole)
    #expect(missing["rules fired"] == [] && missing["locales"] == [] && missing["events"] == [])
    #expect(missing["states"] == [] && missing["card phases"] == [])
    #expect(missing["branches of if"] == [])
    #expect(missing["rules not sent"] == ["lost"])
  }

  @Test func `Rules that a test does not compare do not count`() throws {
    let only = Self.whole.replacing("    for: 1h\n", with: "    for: 1h\n    only: [heartbeat]\n")
    let missing = try missing(only)
    #expect(missing["rules fired"] == ["arrived", "eta", "offer", "lost", "card"])
    #expect(missing["locales"]?.count == 4 && missing["branches of if"]?.count == 2)
    #expect(missing["states"] == [])
  }
}
