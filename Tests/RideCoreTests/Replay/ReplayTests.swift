import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// A replay whose ride changes on the way.
@Suite struct ReplayTests {
  private let start = Sample.now

  private func rules() -> [Rule] {
    [
      Sample.rule("requested", on: ["requested"], body: "x"),
      Sample.rule("arrived", on: ["driver_arrived"], body: "{{ride.attributes.plate}}"),
      Sample.rule("updated", on: ["ride_updated"], body: "{{ride.attributes.plate}}"),
      Sample.rule("eta", on: ["eta_changed"], body: "{{event.data.minutes}}"),
      Sample.rule("lost", app: .driver, on: ["ride_completed"], body: "{{ride.driver_id}}"),
    ]
  }

  private func scenario(_ steps: [(Int64, Change)]) -> Scenario {
    var ride = Ride(id: "r1", state: "requested")
    ride.customerID = "c"
    ride.driverID = "d"
    ride.attributes = #"{"plate":"B-RP 1"}"#
    let phones = [
      Sample.phone(), Sample.phone(2, app: .driver, owner: "d", token: Sample.driverToken),
      Sample.phone(3, app: .driver, owner: "d2", token: String(repeating: "d2", count: 32)),
    ]
    var scenario = Scenario(start: start, view: RideView(rideID: "r1", ride: ride, phones: phones))
    scenario.steps = steps.map { ScenarioStep(at: start + .seconds($0.0), [$0.1]) }
    return scenario
  }

  /// Returns `SECONDS RULE OWNER STATUS` of all that the replay settles.
  private func settled(_ steps: [(Int64, Change)], seconds: Int64 = 3600) -> [String] {
    var replay = scenario(steps).replay(by: Sample.book(rules()))
    var lines: [String] = []
    while let step = replay.next(before: start + .seconds(seconds)) {
      lines += step.settlement.entries.map { entry in
        "\((entry.event.at - start).components.seconds) \(entry.rule) \(entry.owner?.text ?? "-") "
          + entry.status.rawValue
      }
    }
    return lines
  }

  private static let eta = NamedEvent(
    "eta_changed", ride: "r1", data: ["minutes": .integer(3)])

  /// Changes, and what is settled.
  private static let cases: [(String, [(Int64, Change)], [String])] = [
    ("nothing", [], []),
    (
      "a state", [(60, .ride(RideUpdate(id: "r1", state: "driver_arrived")))],
      ["60 arrived c accepted"]
    ),
    (
      "a state with an attribute emits one event",
      [
        (
          60,
          .ride(
            RideUpdate(
              id: "r1", state: "driver_arrived", attributes: ["plate": .string("B-RP 2")]))
        )
      ],
      ["60 arrived c accepted"]
    ),
    (
      "another column",
      [(60, .ride(RideUpdate(id: "r1", attributes: ["plate": .string("B-RP 2")])))],
      ["60 updated c accepted"]
    ),
    ("the same row", [(60, .ride(RideUpdate(id: "r1", state: "requested", driverID: "d")))], []),
    (
      "an event with data", [(5, .event(eta))],
      ["5 eta c accepted"]
    ),
    (
      "an event that names a person",
      [(5, .event(NamedEvent("ride_completed", ride: "r1", data: ["driver_id": .string("d2")])))],
      ["5 lost d2 accepted"]
    ),
    (
      "two changes at one time, in their order",
      [
        (60, .ride(RideUpdate(id: "r1", state: "driver_arrived"))),
        (60, .event(eta)),
      ], ["60 arrived c accepted", "60 eta c accepted"]
    ),
    (
      "a final state", [(60, .ride(RideUpdate(id: "r1", state: "ride_completed")))],
      ["60 lost d accepted"]
    ),
  ]

  @Test(arguments: cases.indices) func `Changes alter the ride`(index: Int) {
    let (name, steps, expected) = Self.cases[index]
    #expect(settled(steps) == expected, "\(name)")
  }

  @Test func `While APNs is away a push waits, and goes when it is back`() {
    let away = PushOutcome.unsent(.noConnection("away"))
    let lines = settled([
      (0, .answers(away, until: start + .seconds(90))),
      (60, .ride(RideUpdate(id: "r1", state: "driver_arrived"))),
    ])
    #expect(lines.first == "60 arrived c pending")
    #expect(lines.last == "60 arrived c accepted")
  }

  @Test func `What was due later is not lost when a change comes before it`() {
    let timing = Timing(.every(.seconds(1200)), while: ["requested"])
    let beat = Rule(
      name: "beat", app: .driver, when: .at(timing), what: .background,
      expires: .after(.seconds(300)), source: "sample.yaml:1")
    var scenario = scenario([(60, .event(Self.eta))])
    scenario.view.ride?.updatedAt = start
    var replay = scenario.replay(by: Sample.book(rules() + [beat]))
    var seconds: [Int64] = []
    while let step = replay.next(before: start + .seconds(3600)) {
      for push in step.decision.pushes where push.entry.rule == "beat" {
        seconds.append((step.now - start).components.seconds)
      }
    }
    // Rides with one period fire at different times within it.
    #expect(seconds.count == 2 && seconds.first.map { $0 < 2400 } == true)
    #expect(seconds.last.map { $0 - 1200 } == seconds.first)
  }

  /// Returns the ride as the next decision reads it after a change.
  private func view(after change: Change, phones: [Phone]? = nil) throws -> RideView {
    var scenario = scenario([(0, change)])
    if let phones { scenario.view.phones = phones }
    scenario.steps[0].at = start
    var replay = scenario.replay(by: Sample.book(rules()))
    let pass = replay.next(before: start + .seconds(1))
    return try #require(pass).decision.view
  }

  @Test func `A former person is recorded as the database records it`() throws {
    let change = RideUpdate(
      id: "r1", driverID: "d2", attributes: ["plate": .string("B-RP 2")])
    let people = try #require(try view(after: .ride(change)).events.first?.people)
    #expect(people.driver == "d2" && people.former?.driver == "d")
    #expect(people.former?.attributes == #"{"plate":"B-RP 1"}"#)
  }

  @Test func `Contact reaches the phones of the owner, and makes nothing due`() throws {
    let contact = Change.contact(Contact(.driver, nil, ride: "r1"))
    var replay = scenario([(60, contact)]).replay(by: Sample.book(rules()))
    while let pass = replay.next(before: start + .seconds(3600)) {
      #expect(pass.now != start + .seconds(60))
    }
    let view = try view(after: contact)
    #expect(view.events.isEmpty)
    let reached = view.phones.filter { $0.contactedAt != nil }
    #expect(reached.map(\.token) == [Sample.driverToken])
    #expect(view.contacts == [OwnerContact(app: .driver, owner: "d", at: start)])
  }

  static let contacts: [(named: InstallationID?, reaches: [Bool])] = [
    (nil, [true, true, true]), ("i1", [true, false, true]), ("i2", [false, true, true]),
    ("other", [false, false, true]),
  ]

  @Test(arguments: contacts.indices)
  func `R88: Contact of an installation reaches its phone, and those that named none`(index: Int)
    throws
  {
    let (named, reaches) = Self.contacts[index]
    let phones = (0..<3).map { index in
      var phone = Sample.phone(Int64(index + 1), app: .driver, owner: "d", token: "aa0\(index)")
      phone.installationID = index < 2 ? InstallationID("i\(index + 1)") : nil
      return phone
    }
    let view = try view(after: .contact(Contact(.driver, nil, named, ride: "r1")), phones: phones)
    #expect(view.phones.map { $0.contactedAt != nil } == reaches)
    // The owner made contact, whichever phone it was.
    #expect(view.contacts.map(\.at) == [start])
  }
}
