import Testing

@testable import RideCore
@testable import RuleFiles

/// `ridepulse test --update`.
@Suite struct RuleTestUpdateTests {
  private func updated(_ yaml: String) throws -> String? {
    let file = try RuleTestRules.file(yaml, allowsIncomplete: true)
    return try RuleTestUpdate(file).result().map { String(decoding: $0.bytes, as: UTF8.self) }
  }

  private static let given =
    "given: { ride: { state: driver_en_route, customer_id: c, driver_id: d, attributes: { plate: X } } }\n"

  @Test func `Only lines are added, and each at the end of its test`() throws {
    let yaml =
      Self.given + """
        tests:   # a list
          # The first one.
          - name: a
            when:
            - { at: 1m, state: driver_arrived }   # there

            # A remark about the next one.
          - name: b
            when: [{ at: 5m,
               state: ride_completed }]


          - { name: c, then: [] }
          - name: "d # no comment"
            only: [offer]
            when: [{ at: 1m, state: requested }]
            for: 2m
        """
    let line =
      "{ at: 1m, rule: arrived, to: customer, push: { type: alert, priority: 10, expires: 5m } }"
    let offer =
      "{ at: 1m, rule: offer, to: driver, push: { type: alert, priority: 5, expires: 15s } }"
    let expected =
      Self.given
        + """
        tests:   # a list
          # The first one.
          - name: a
            when:
            - { at: 1m, state: driver_arrived }   # there
            then:
              - \(line)

            # A remark about the next one.
          - name: b
            when: [{ at: 5m,
               state: ride_completed }]
            then: []


          - { name: c, then: [] }
          - name: "d # no comment"
            only: [offer]
            when: [{ at: 1m, state: requested }]
            for: 2m
            then:
              - \(offer)
              - { at: 66s, rule: offer, emit: offer_unseen }

        """.replacing("at: 66s", with: "at: 1m6s")
    #expect(try updated(yaml) == expected)
    #expect(RuleTestRules.messages(about: expected) == [])
  }

  @Test func `A file of complete tests stays as it is`() throws {
    #expect(try updated("tests: [{ name: c, then: [] }]") == nil)
  }

  @Test func `What breaks never is reported by the next run, and not by the update`() throws {
    let yaml =
      Self.given + "never: { rings-per-ride: 0 }\n" + """
        tests:
          - name: a
            when: [{ at: 1m, state: driver_arrived }]
        """
    let text = try #require(try updated(yaml))
    #expect(text.contains("rule: arrived"))
    let messages = RuleTestRules.messages(about: text)
    #expect(messages.first?.hasSuffix("rang too often: 1, at most 0") == true, "\(messages)")
  }

  @Test func `Line ends of Windows stay`() throws {
    let yaml = "tests:\r\n- name: a\r\n  for: 1m\r\n"
    #expect(try updated(yaml) == "tests:\r\n- name: a\r\n  for: 1m\r\n  then: []\r\n")
  }

  @Test func `A test in braces is not changed`() throws {
    let file = try RuleTestRules.file("tests: [{ name: a, for: 1m }]", allowsIncomplete: true)
    let problem = #expect(throws: RuleProblem.self) { try RuleTestUpdate(file).result() }
    #expect(
      problem?.description
        == "schedules/a.test.yaml:1:9: the test \"a\", into which no line can be inserted; "
        + "expected each key of a test on a line of its own")
  }
}
