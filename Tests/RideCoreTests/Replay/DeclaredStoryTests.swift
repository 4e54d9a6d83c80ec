import Testing

@testable import Base
@testable import RideCore
@testable import Timeline

/// What a story invents for attributes with a declared type.
@Suite struct DeclaredStoryTests {
  private static let declared = DeclaredAttributes([
    "eta_epoch": .time, "fare": .number, "seats": .number, "plate": .text, "paid": .flag,
    "rated": .flag, "product": .words(["taxi", "xl"]), "bags": .text,
    "driver": .object(["name": .text, "rating": .number]),
    "stops": .list(.object(["address": .text, "at": .time])), "pin": .text,
  ])

  private static let body = """
    {{ride.attributes.eta_epoch | time}} {{ride.attributes.fare}} {{ride.attributes.seats}}
    {{ride.attributes.plate}} {{ride.attributes.bags | plural: 'other=# bags'}}
    {{ride.attributes.product | select: 'van=Van|other=Car'}} {{ride.attributes.driver.name}}
    {{ride.attributes.stops}}
    """

  private func invented(
    _ condition: String, declared: DeclaredAttributes? = Self.declared
  ) throws -> [String: JSONValue] {
    var rule = Sample.rule(body: Self.body)
    rule.condition = try Condition(condition, declared: declared)
    let known = Sample.book([rule]).rules
    let rules = RuleSet(
      activeStates: known.activeStates, finalStates: known.finalStates, events: known.events,
      rules: known.rules, attributes: declared)
    let story = try InventedRide(for: rules, at: Sample.now)
      .scenario(of: "requested,driver_arrived")
    return story.steps.flatMap(\.changes).reduce(into: [:]) {
      if case .ride(let update) = $1 { $0.merge(update.attributes ?? [:]) { $1 } }
    }
  }

  @Test func `Values are of the declared types, and the rule can be shown`() throws {
    let attributes = try invented(
      "!ride.attributes.paid && ride.attributes.rated && !has(ride.attributes.pin)")
    let pickup = JSONValue.integer((Sample.now + .seconds(300)).epochSeconds)
    #expect(
      attributes == [
        "eta_epoch": pickup, "fare": .number(14.2), "seats": .integer(3),
        "plate": .string("B-RP 1001"), "bags": .string("3"), "product": .string("taxi"),
        "driver": .object(["name": .string("Ana")]),
        "stops": .array([.object(["address": .string("Gate B"), "at": pickup])]),
        "paid": .bool(false), "rated": .bool(true),
      ])
    #expect(Self.declared.mismatches(in: .object(attributes)).isEmpty)
  }

  @Test func `A condition chooses among declared words`() throws {
    #expect(try invented("ride.attributes.product == 'xl'")["product"] == .string("xl"))
  }

  @Test func `Without a declaration a value is made from its name`() throws {
    let attributes = try invented("!ride.attributes.paid", declared: nil)
    #expect(attributes["fare"] == .number(14.2))
    #expect(attributes["product"] == .string("van"))
    #expect(attributes["paid"] == .bool(false))
  }
}
