import Testing

@testable import Base
@testable import RideCore

/// R89: events about no ride concern whom their data names.
@Suite struct PersonalEventTests {
  private static let ride = RideID(ofPerson: "d7", app: .driver)

  private func decision(
    _ rules: [Rule], data: String = #"{"driver_id": "d7", "document": "licence"}"#,
    event: String = "eta_changed", phones: [Phone]? = nil
  ) -> Decision {
    let phone = Sample.phone(7, app: .driver, owner: "d7")
    let view = RideView(
      rideID: Self.ride, ride: nil, events: [Sample.event(1, event, data: data)],
      phones: phones ?? [phone])
    return decide(view, by: Sample.book(rules), now: Sample.now)
  }

  private func rule(
    _ body: String = "{{event.data.document}}", app: App = .driver, collapse: String? = nil
  ) -> Rule {
    Sample.rule("expiry", app: app, on: ["eta_changed"], body: body, collapse: collapse)
  }

  @Test func `R89: the person receives it`() {
    let decision = decision([rule()])
    #expect(decision.pushes.map(\.entry.owner) == ["d7"])
    let body = decision.pushes.first.flatMap {
      JSONValue(json: $0.payload)?.value(at: ["aps", "alert", "body"])
    }
    #expect(body == .string("licence"))
    let settlement = decision.settled([.accepted], now: Sample.now, jitter: { 0 })
    #expect(settlement.isOver && settlement.consumed.count == 1)
  }

  @Test(
    arguments: [
      ("{{ride.id}}", "missing ride.id"), ("{{ride.state}}", "missing ride.state"),
      ("{{ride.time_zone}}", "missing ride.time_zone"),
      ("{{ride.pickup_at | time}}", "missing ride.pickup_at"),
      ("{{ride.attributes.plate}}", "missing ride.attributes.plate"),
      ("{{event.data.other}}", "missing event.data.other"),
    ])
  func `a value of a ride is missing`(body: String, reason: String) {
    #expect(decision([rule(body)]).reasons == ["suppressed: \(reason)"])
  }

  @Test func `a collapse ID of a ride is missing, and defaults apply`() {
    #expect(
      decision([rule(collapse: "ride-{{ride.id}}")]).reasons == ["suppressed: missing ride.id"])
    #expect(decision([rule("{{ride.id | default: 'x'}} {{event.at | time}}")]).pushes.count == 1)
  }

  /// U6: an event about no ride has no zone of its own.
  @Test(
    arguments: [
      (nil, "UTC", "10:00"), ("Europe/Vienna", "Europe/Vienna", "11:00"),
    ] as [(String?, String, String)])
  func `U6: times and quiet hours are in defaults.time-zone`(
    _ zone: String?, _ name: String, _ shown: String
  ) throws {
    let view = RideView(
      rideID: Self.ride, ride: nil,
      events: [
        Sample.event(
          1, "eta_changed", data: #"{"driver_id": "d7", "at": "2026-11-21T10:00:00Z"}"#)
      ],
      phones: [Sample.phone(7, app: .driver, owner: "d7")])
    var hushed = Sample.rule("hushed", app: .driver, on: ["eta_changed"], body: "x")
    hushed.limits.quiet = QuietHours(
      from: try #require(QuietHours.TimeOfDay(text: "00:00")),
      to: try #require(QuietHours.TimeOfDay(text: "23:59")), zone: .ride, then: .drop)
    let configuration = EngineConfiguration(
      rules: RuleSet(
        activeStates: [], finalStates: [], events: ["eta_changed"],
        rules: [rule("{{event.data.at | time}}"), hushed],
        defaults: RuleDefaults(zone: zone.flatMap(ZoneTimes.init(identifier:)))),
      bundleIDs: [.driver: "com.example.driver"])
    let decision = decide(view, by: configuration, now: Sample.now)
    let body = decision.pushes.first.flatMap {
      JSONValue(json: $0.payload)?.value(at: ["aps", "alert", "body"])
    }
    #expect(body == .string(shown))
    #expect(decision.reasons == ["suppressed: quiet hours 00:00 to 23:59 \(name)"])
  }

  @Test func `apps of its rules that it does not name are not recorded`() {
    var both = rule()
    both.otherApps = [.customer]
    let decision = decision(
      [both, rule(app: .customer)].enumerated().map { index, rule in
        var rule = rule
        rule.name = "r\(index)"
        return rule
      })
    #expect(decision.pushes.count == 1 && decision.ended.isEmpty)
  }

  @Test func `if it names nobody of any rule, that is recorded`() {
    #expect(
      decision([rule(app: .customer)]).reasons == ["suppressed: the event names no customer"])
    #expect(
      decision([rule()], data: #"{"driver_id": []}"#).reasons
        == ["suppressed: the event names no driver"])
    #expect(decision([rule()], phones: []).reasons == ["suppressed: no phone of the driver"])
  }

  @Test func `while, cards and clock rules need a ride`() {
    var bound = rule()
    bound.when = .on(["eta_changed"], while: ["driver_arrived"])
    #expect(decision([bound]).reasons == ["suppressed: the ride is in no state, not in while"])
    var life = LiveActivity(attributesType: "T")
    life.start = ["eta_changed"]
    let card = Rule(
      name: "card", app: .driver, when: .life, what: .liveActivity(life),
      expires: .after(.seconds(60)), source: "a.yaml:1")
    #expect(decision([card]).reasons == ["suppressed: ride not found"])
  }

  @Test func `a retry shows the same values`() throws {
    let first = decision([rule()])
    let memo = first.settled([.unsent(.refusedStream)], now: Sample.now, jitter: { 1 }).memo
    let due = try #require(memo.waiting.first?.due)
    let view = RideView(
      rideID: Self.ride, ride: nil, phones: [Sample.phone(7, app: .driver, owner: "d7")],
      memo: memo)
    let again = decide(view, by: Sample.book([rule()]), now: due)
    #expect(again.pushes.map(\.payload) == first.pushes.map(\.payload))
  }

  @Test func `a ride of the service with such an ID is a ride`() {
    var ride = Sample.ride()
    ride.id = Self.ride
    let view = RideView(
      rideID: Self.ride, ride: ride, events: [Sample.event()],
      phones: [Sample.phone(1, owner: "c")])
    #expect(decide(view, by: Sample.book(), now: Sample.now).pushes.count == 1)
  }

  @Test func `each person has an event of their own, which names nobody else`() {
    let split = PersonalEvent.split(
      #"{"driver_id": ["d7", 8], "customer_id": "c1", "fleet_id": "f", "document_id": "x"}"#,
      apps: [.driver])
    #expect(split.map { "\($0.app) \($0.ownerID)" } == ["customer c1", "driver d7", "driver 8"])
    #expect(
      split.map(\.data) == [
        #"{"customer_id":"c1","document_id":"x","fleet_id":"f"}"#,
        #"{"document_id":"x","driver_id":"d7","fleet_id":"f"}"#,
        #"{"document_id":"x","driver_id":"8","fleet_id":"f"}"#,
      ])
    #expect(PersonalEvent.split("[]", apps: [.driver]).isEmpty)
    #expect(PersonalEvent.split(#"{"document_id": "x"}"#, apps: []).isEmpty)
  }
}
