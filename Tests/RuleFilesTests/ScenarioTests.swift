import Testing

@testable import Base
@testable import RideCore
@testable import RuleFiles
@testable import Timeline

/// Story files: what they mean, and the messages about mistakes in them.
@Suite struct ScenarioTests {
  private let start = Timestamp(epochSeconds: 1_800_000_000)
  private let rules = RuleSet(
    activeStates: ["requested", "driver_arrived"], finalStates: ["ride_completed"],
    events: ["eta_changed"],
    rules: [
      Rule(
        name: "r", app: .customer, when: .on(["driver_arrived"]), what: .background,
        expires: .neverStore, source: "a.yaml:1")
    ])

  private func read(_ yaml: String) -> Result<Scenario, RuleProblems> {
    ScenarioFile.parse(Array(yaml.utf8), named: "a.story.yaml", for: rules, at: start)
  }

  @Test func `A whole story`() throws {
    let scenario = try read(
      """
      given:
        at: 2026-11-21T08:00:00Z
        ride: { id: r1, state: requested, customer_id: u17, time_zone: Europe/Berlin,
                pickup_at: 30m, attributes: { plate: B-RP 1001, seats: 4 } }
        phones:
          - { app: customer, token: 00AABB11, locale: de-AT, installation_id: i1 }
          - { app: customer, platform: android, token: "Ab:C" }
          - { app: customer, platform: android }
        cards:
          - { app: customer, token: 0f0f0f, activity_id: A1, frequent: true }
      when:
        - { at: 0s, contact: customer }
        - { at: 0s, contact: customer, owner_id: u18, installation_id: i1 }
        - { at: 10m, state: driver_arrived, driver_id: d4, attributes: { plate: null } }
        - { at: 12m, event: eta_changed, data: { minutes: 3 } }
        - { at: 12m, apns: { status: 410, reason: Unregistered, for: 3m } }
        - { at: 13m, apns: away }
        - { at: 14m, fcm: UNREGISTERED }
        - { at: 15m, fcm: { reason: UNAVAILABLE, for: 1m } }
        - { at: 16m, fcm: accepts }
      for: 3h
      """
    ).get()
    let view = scenario.view
    #expect(scenario.start == CivilTime.instant(iso: "2026-11-21T08:00:00Z"))
    #expect(view.ride?.state == "requested" && view.ride?.customerID == "u17")
    #expect(view.ride?.pickupAt == scenario.start + .seconds(1800))
    #expect(view.ride?.attributes == #"{"plate":"B-RP 1001","seats":4}"#)
    #expect(view.phones.map(\.token).prefix(2) == ["00aabb11", "Ab:C"])
    #expect(view.phones.map(\.platform) == [.ios, .android, .android])
    #expect(view.phones.allSatisfy { $0.ownerID == "u17" })
    #expect(FCMRegistration(view.phones[2].token) != nil)
    #expect(view.cards.map(\.isFrequent) == [true] && !scenario.lacksPhones)
    #expect(scenario.length == .seconds(3 * 3600))
    #expect(
      scenario.steps.map(\.changes) == [
        [.contact(Contact(.customer, nil, ride: "r1"))],
        [.contact(Contact(.customer, "u18", "i1", ride: "r1"))],
        [
          .ride(
            RideUpdate(
              id: "r1", state: "driver_arrived", driverID: "d4", attributes: ["plate": .null]))
        ],
        [.event(NamedEvent("eta_changed", ride: "r1", data: ["minutes": .integer(3)]))],
        [
          .answers(
            .refused(
              Refusal(
                status: 410, reason: "Unregistered", timestamp: scenario.start + .seconds(720))),
            until: scenario.start + .seconds(900))
        ],
        [.answers(.unsent(.noConnection("APNs is away")), until: nil)],
        [
          .answers(
            .refused(
              Refusal(
                status: 404, reason: "UNREGISTERED", timestamp: scenario.start + .seconds(840))),
            until: nil, of: .android)
        ],
        [
          .answers(
            .refused(Refusal(status: 503, reason: "UNAVAILABLE")),
            until: scenario.start + .seconds(960), of: .android)
        ],
        [.answers(.accepted, until: nil, of: .android)],
      ])
  }

  /// A story, and the first message about it.
  private static let mistakes: [(String, String)] = [
    ("", ":1:1: nothing in the file; expected given and when"),
    ("given: {}", ":1:1: a story file without when; expected when: a list such as"),
    ("whn: []", "unknown key \"whn\" in a story file; expected one of given, when, for; did you"),
    ("when: [{ at: 0s, stat: requested }]", "unknown key \"stat\" in an entry of when"),
    (
      "when: [{ at: 0s, state: driver_arived }]",
      ":1:25: state names the unknown state \"driver_arived\"; expected one of driver_arrived, "
        + "requested, ride_completed; did you mean \"driver_arrived\"?"
    ),
    ("when: [{ at: 0s, event: eta }]", "event names the unknown event \"eta\""),
    ("when: [{ state: requested }]", "an entry of when without at; expected at: 10m, or 0s"),
    ("when: [{ at: soon, state: requested }]", "expected a duration after the start such as 10m"),
    ("when: [{ at: 5m }]", "an entry in which nothing happens"),
    (
      "when: [{ at: 5m, state: requested }, { at: 1m, event: eta_changed }]",
      "an entry before the one above it; expected the entries of when in the order of time"
    ),
    ("when: [{ at: 0s, data: { a: 1 } }]", "\"data\" in an entry without \"event\""),
    ("when: [{ at: 0s, event: eta_changed, data: 5 }]", "data is the number 5; expected a mapping"),
    ("when: [{ at: 0s, apns: awy }]", "did you mean \"away\"?"),
    ("when: [{ at: 0s, apns: { status: 200 } }]", "expected a whole number from 400 to 599"),
    (
      "when: [{ at: 0s, seen: s }]",
      "seen names the unknown rule \"s\"; expected the name of a rule"
    ),
    ("given: { at: 5m }\nwhen: []", "at is the text \"5m\"; expected a time such as"),
    ("given: { phones: [{ app: custmer }] }\nwhen: []", "did you mean \"customer\"?"),
    ("given: { phones: {} }\nwhen: []", "phones is a mapping; expected a list of mappings"),
    ("given: { push_to_start: [{ app: customer }] }\nwhen: []", "which has no card"),
    ("given: { ride: { time_zone: Berlin } }\nwhen: []", "expected a name of the tz database"),
    (
      "given: { phones: [{ app: customer, time_zone: Tokyo }] }\nwhen: []",
      "expected a name of the tz database"
    ),
  ]

  @Test(arguments: mistakes.indices) func `A mistake has its location and what is expected`(
    index: Int
  ) {
    let (yaml, message) = Self.mistakes[index]
    switch read(yaml) {
    case .success: Issue.record("accepted: \(yaml)")
    case .failure(let problems):
      let first = problems.problems[0].description
      #expect(first.hasPrefix("a.story.yaml:") && first.contains(message), "\(first)")
    }
  }
}
