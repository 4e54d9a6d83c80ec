import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// `ride.entered.STATE`: when the ride last entered a state.
@Suite struct EnteredStateTests {
  private static let entered = Timestamp(epochSeconds: 1_799_999_400)

  private func context(_ entered: [String: Timestamp]) -> TemplateContext {
    var ride = Sample.ride()
    ride.entered = entered
    return TemplateContext(ride: ride, attributes: .object([:]), event: Sample.event())
  }

  @Test(arguments: [
    ("{{ride.entered.driver_arrived}}", "2027-01-15T07:50:00Z"),
    ("{{ride.entered.driver_arrived | time}}", "07:50"),
    ("{{ride.entered.requested | time | default: 'unknown'}}", "unknown"),
  ])
  func `A text shows when the ride entered a state`(text: String, shown: String) throws {
    let context = context(["driver_arrived": Self.entered])
    #expect(try context.text(of: TextTemplate(text)) == shown)
  }

  @Test func `A state that was never entered has no value`() throws {
    #expect(throws: RenderingError.missing("ride.entered.requested")) {
      try context(["driver_arrived": Self.entered]).text(
        of: TextTemplate("{{ride.entered.requested}}"))
    }
  }

  @Test(arguments: ["{{ride.entered}}", "{{ride.entered.a.b}}", "{{me}}", "{{ride.me}}"])
  func `Other paths are refused`(text: String) {
    #expect(throws: TemplateError.self) { try TextTemplate(text) }
  }

  private static let conditions: [(String, Bool?)] = [
    ("now - ride.entered.driver_arrived >= duration('10m')", true),
    ("now - ride.entered.driver_arrived > duration('10m')", false),
    ("has(ride.entered.driver_arrived)", true),
    ("has(ride.entered.requested)", false),
    ("ride.entered.requested < now", nil),
  ]

  @Test(arguments: conditions.indices) func `A condition reads it`(index: Int) throws {
    let (text, expected) = Self.conditions[index]
    var rule = Sample.rule()
    rule.condition = try Condition(text)
    var ride = Sample.ride()
    ride.entered = ["driver_arrived": Self.entered]
    let decision = decide(
      Sample.view(ride: ride), by: Sample.book([rule]), now: Self.entered + .seconds(600))
    let missing = "suppressed: if: ride.entered.requested is missing"
    #expect(
      decision.reasons
        == (expected == true
          ? []
          : expected == false
            ? ["suppressed: if is false"] : [missing]),
      "\(text)")
  }

  @Test func `A former driver's text has no time of what came after`() {
    let event = RideEvent(id: 1, name: "driver_arrived", at: Sample.now)
    var ride = Sample.ride()
    ride.entered = [
      "requested": Sample.now - .seconds(60), "driver_arrived": Sample.now + .seconds(1),
    ]
    let decider = Decider(
      view: Sample.view(ride: ride, events: [event]), configuration: Sample.book(),
      now: Sample.now + .seconds(2))
    let former = decider.context(event, as: RideImage(driver: "d0"))
    #expect(former.ride.entered == ["requested": Sample.now - .seconds(60)])
  }

  @Test func `A replay records entries, a second one in the place of the first`() {
    let start = Sample.now
    let tables = AppTables(for: [Sample.book()], from: start)
    func change(_ id: Int64, _ state: String?, after seconds: Int64) -> [String: Timestamp]? {
      var update = RideUpdate(id: "r1")
      if let state { update.state = state }
      update.attributes = ["n": .integer(id)]
      return tables.update(update, at: start + .seconds(seconds), event: id)?.ride?.entered
    }
    #expect(change(1, "requested", after: 0) == ["requested": start])
    #expect(change(2, nil, after: 5) == ["requested": start])
    #expect(
      change(3, "driver_arrived", after: 10)
        == ["requested": start, "driver_arrived": start + .seconds(10)])
    #expect(
      change(4, "requested", after: 20)
        == ["requested": start + .seconds(20), "driver_arrived": start + .seconds(10)])
  }

  @Test func `A row that was there before has the times that its line states`() {
    let tables = AppTables(for: [Sample.book()], from: Sample.now)
    var row = RideUpdate(id: "r1", state: "driver_arrived")
    row.updatedAt = Sample.now - .seconds(60)
    row.entered = ["requested": Sample.now - .seconds(90)]
    let change = tables.update(row, at: Sample.now, event: 1)
    #expect(change?.ride?.entered == ["requested": Sample.now - .seconds(90)])
  }

  @Test func `A change of a participant alone emits no event of the ride`() {
    let tables = AppTables(for: [Sample.book()], from: Sample.now)
    _ = tables.update(RideUpdate(id: "r1", state: "requested"), at: Sample.now, event: 1)
    var update = RideUpdate(id: "r1")
    update.participants = [Participant(app: .customer, ownerID: "c2", attributes: #"{"n":1}"#)]
    let change = tables.update(update, at: Sample.now + .seconds(1), event: 2)
    #expect(change?.event?.isInternal == true && change?.ride?.participants.count == 1)
  }
}
