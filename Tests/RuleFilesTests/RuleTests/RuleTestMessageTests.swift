import TestSupport
import Testing

@testable import RideCore
@testable import RuleFiles

/// Each kind of failure of a test, and each mistake in a test file, word for word.
@Suite struct RuleTestMessageTests {
  private static let given = """
    given:
      at: 2026-11-21T08:00:00Z
      ride: { id: r1, state: driver_en_route, customer_id: u17, driver_id: d4, attributes: { plate: B-RP 1001, eta: 3 } }
      phones:
        - { app: customer, token: 00aabb11, locale: de-AT }
        - { app: driver, token: 00aabb22 }

    """

  /// Returns the file of a case: its lines are one test, unless they begin with `tests`.
  private static func file(_ row: GoldenCase) -> String {
    if row.input.hasPrefix("tests") || row.input.hasPrefix("!") {
      return String(row.input.drop { $0 == "!" })
    }
    let lines = row.input.split(separator: "\n").map { "    \($0)\n" }.joined()
    return given + "tests:\n  - name: t\n" + lines
  }

  private static func messages(_ row: GoldenCase) -> [String] {
    RuleTestRules.messages(about: file(row))
  }

  @Test(arguments: GoldenCase.all(in: "test-failures.txt"))
  func `A failure`(row: GoldenCase) {
    #expect(!row.expected.isEmpty)
    #expect(Self.messages(row) == row.expected)
  }

  @Test(arguments: GoldenCase.all(in: "test-files.txt"))
  func `A mistake in a test file`(row: GoldenCase) {
    #expect(!row.expected.isEmpty)
    #expect(Self.messages(row) == row.expected)
  }

  @Test(.enabled(if: Golden.isRecording))
  func recorded() throws {
    for file in ["test-failures.txt", "test-files.txt"] {
      try GoldenCase.record(file, messages: Self.messages)
    }
  }

  /// What passes: each row is one test.
  private static let good = [
    "when: [{ at: 10m, state: driver_arrived }]\nthen: [{ at: 10m, rule: arrived }]",
    // A part of a payload; null stands for what is not there.
    """
    when: [{ at: 10m, state: driver_arrived }]
    then:
      - at: 10m
        rule: arrived
        to: customer
        owner_id: u17
        locale: de-AT
        push: { type: alert, priority: 10, expires: 5m, collapse: ride-r1 }
        payload: { aps: { alert: { title: Dein Fahrer ist da }, badge: null }, seats: 4.0, list: [1, 2], none: null }
    """,
    "when: [{ at: 1m, event: eta_changed, attributes: { eta: 6 } }]\nonly: eta\n"
      + "then: [{ at: 1m, rule: eta, push: { expires: never-store } }, { at: 1m, rule: eta }]",
    // Without `for` a test ends with the last time that it names.
    "when: [{ at: 19m, contact: driver }]\nthen: []",
    "then: []\nfor: 19m59s",
    "only: [heartbeat]\nwhen: [{ at: 70m, state: ride_completed }]\nfor: 3h\n"
      + "then: { count: 3, gap: 20m, tolerance: 1s, none-after: 61m }",
    "given: { phones: [] }\nwhen: [{ at: 1m, state: driver_arrived }]\n"
      + "not-sent: [{ at: 1m, rule: arrived, reason: no_phone }, { at: 1m, rule: arrived, to: customer, reason: no phone }]",
    "when: [{ at: 1m, attributes: { eta: 4 } }]\nnot-sent: [{ at: 1m, rule: eta, reason: if is false }]",
    // A refresh of a card that nothing caused need not be listed, but can be.
    "given: { cards: [{ app: customer, token: 0f0f0f }] }\nonly: card\nfor: 10m\nthen: []",
    "given: { cards: [{ app: customer, token: 0f0f0f }] }\nonly: card\nfor: 90s\n"
      + "then: [{ at: 90s, rule: card, card: update, push: { type: liveactivity } }]",
    "only: [offer, lost]\nwhen: [{ at: 1m, state: requested }]\nfor: 2m\n"
      + "then: [{ at: 1m, rule: offer }, { at: 66s, rule: offer, emit: offer_unseen }]",
    // R90
    "only: offer\nwhen: [{ at: 1m, state: requested }, { at: 65s, seen: offer }]\nfor: 2m\n"
      + "then: [{ at: 1m, rule: offer }]\nnot-sent: [{ at: 66s, rule: offer, reason: seen }]",
    "only: offer\nwhen: [{ at: 1m, state: requested }, { at: 65s, seen: offer, owner_id: d9 }]\nfor: 2m\n"
      + "then: [{ at: 1m, rule: offer }, { at: 66s, rule: offer, emit: offer_unseen }]",
    // R88
    "only: lost\nwhen: [{ at: 1m, state: driver_arrived }, { at: 2m, contact: driver }]\nfor: 10m\n"
      + "then: [{ at: 4m, rule: lost, emit: driver_lost }]",
    // A phone with a card that a push has started.
    "given: { ride: { state: requested }, push_to_start: [{ app: customer, token: 5a5a5a }] }\nonly: card\n"
      + "when: [{ at: 1m, state: driver_en_route }, { at: 5m, state: ride_completed }]\n"
      + "then: [{ at: 1m, rule: card, card: start }, { at: 61s, rule: card, card: update }, "
      + "{ at: 5m, rule: card, card: end }]",
    "when: [{ at: 1m, apns: away }, { at: 1m, state: driver_arrived }]\nonly: arrived\n"
      + "then: []\nnot-sent: [{ at: 1m, rule: arrived, reason: no connection }]",
    // Each part of `given` is merged over the file's.
    "given: { ride: { attributes: { plate: X } } }\nwhen: [{ at: 1m, state: driver_arrived }]\n"
      + "then: [{ at: 1m, rule: arrived, payload: { aps: { alert: { body: X } } } }]",
  ]

  @Test(arguments: good.indices) func `A test that passes`(index: Int) {
    let row = GoldenCase(name: "", input: Self.good[index], expected: [])
    #expect(Self.messages(row) == [])
  }
}
