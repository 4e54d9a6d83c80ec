import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// A replay whose ride changes on the way.
@Suite struct ScriptTests {
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

  private func scenario(_ steps: [(Int64, RideChange)]) -> Scenario {
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
  private func settled(_ steps: [(Int64, RideChange)], seconds: Int64 = 3600) -> [String] {
    var replay = scenario(steps).replay(by: Sample.book(rules()))
    var lines: [String] = []
    while let step = replay.step(before: start + .seconds(seconds)) {
      lines += step.settlement.entries.map { entry in
        "\((entry.event.at - start).components.seconds) \(entry.rule) \(entry.owner?.text ?? "-") "
          + entry.status.rawValue
      }
    }
    return lines
  }

  /// A script, and what is settled.
  private static let cases: [(String, [(Int64, RideChange)], [String])] = [
    ("nothing", [], []),
    (
      "a state", [(60, .row([.state("driver_arrived")]))], ["60 arrived c accepted"]
    ),
    (
      "a state with an attribute emits one event",
      [(60, .row([.state("driver_arrived"), .attributes(["plate": .string("B-RP 2")])]))],
      ["60 arrived c accepted"]
    ),
    (
      "another column", [(60, .row([.attributes(["plate": .string("B-RP 2")])]))],
      ["60 updated c accepted"]
    ),
    ("the same row", [(60, .row([.state("requested"), .driverID("d")]))], []),
    (
      "an event with data", [(5, .event("eta_changed", data: .object(["minutes": .integer(3)])))],
      ["5 eta c accepted"]
    ),
    (
      "an event that names a person",
      [(5, .event("ride_completed", data: .object(["driver_id": .string("d2")])))],
      ["5 lost d2 accepted"]
    ),
    (
      "two changes at one time, in their order",
      [
        (60, .row([.state("driver_arrived")])),
        (60, .event("eta_changed", data: .object(["minutes": .integer(3)]))),
      ], ["60 arrived c accepted", "60 eta c accepted"]
    ),
    (
      "a final state", [(60, .row([.state("ride_completed")]))], ["60 lost d accepted"]
    ),
  ]

  @Test(arguments: cases.indices) func `A script changes the ride`(index: Int) {
    let (name, steps, expected) = Self.cases[index]
    #expect(settled(steps) == expected, "\(name)")
  }

  @Test func `While APNs is away a push waits, and goes when it is back`() {
    let away = PushOutcome.unsent(.noConnection("away"))
    let lines = settled([
      (0, .answer(away, until: start + .seconds(90))), (60, .row([.state("driver_arrived")])),
    ])
    #expect(lines.first == "60 arrived c pending")
    #expect(lines.last == "60 arrived c accepted")
  }

  @Test func `What was due later is not lost when a change comes before it`() {
    let timing = Timing(.every(.seconds(1200)), while: ["requested"])
    let beat = Rule(
      name: "beat", app: .driver, when: .at(timing), what: .background,
      expires: .after(.seconds(300)), source: "sample.yaml:1")
    var scenario = scenario([(60, .event("eta_changed", data: .object(["minutes": .integer(3)])))])
    scenario.view.ride?.updatedAt = start
    var replay = scenario.replay(by: Sample.book(rules() + [beat]))
    var seconds: [Int64] = []
    while let step = replay.step(before: start + .seconds(3600)) {
      for push in step.decision.pushes where push.entry.rule == "beat" {
        seconds.append((step.now - start).components.seconds)
      }
    }
    // Rides with one period fire at different times within it.
    #expect(seconds.count == 2 && seconds.first.map { $0 < 2400 } == true)
    #expect(seconds.last.map { $0 - 1200 } == seconds.first)
  }

  @Test func `A former person is recorded as the database records it`() throws {
    var view = scenario([]).view
    let columns: [RideColumn] = [.driverID("d2"), .attributes(["plate": .string("B-RP 2")])]
    let isDue = view.apply(.row(columns), at: start, event: 7)
    #expect(isDue)
    let people = try #require(view.events.first?.people)
    #expect(people.driver == "d2" && people.former?.driver == "d")
    #expect(people.former?.attributes == #"{"plate":"B-RP 1"}"#)
  }

  @Test func `Contact reaches the phones of the owner, and makes nothing due`() {
    var view = scenario([]).view
    let isDue = view.apply(.contact(.driver, nil), at: start, event: 7)
    #expect(!isDue && view.events.isEmpty)
    #expect(view.phones.map { $0.contactedAt != nil } == [false, true, false])
    #expect(view.contacts == [OwnerContact(app: .driver, owner: "d", at: start)])
  }

  static let contacts: [(named: InstallationID?, reaches: [Bool])] = [
    (nil, [true, true, true]), ("i1", [true, false, true]), ("i2", [false, true, true]),
    ("other", [false, false, true]),
  ]

  @Test(arguments: contacts.indices)
  func `R88: Contact of an installation reaches its phone, and those that named none`(index: Int) {
    let (named, reaches) = Self.contacts[index]
    var view = scenario([]).view
    view.phones = (0..<3).map { place in
      var phone = Sample.phone(app: .driver, owner: "d")
      phone.installationID = place < 2 ? InstallationID("i\(place + 1)") : nil
      return phone
    }
    _ = view.apply(.contact(.driver, nil, named), at: start, event: 7)
    #expect(view.phones.map { $0.contactedAt != nil } == reaches)
    // The owner made contact, whichever phone it was.
    #expect(view.contacts.map(\.at) == [start])
  }
}
