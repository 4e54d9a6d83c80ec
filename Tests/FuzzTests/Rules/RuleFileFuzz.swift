import Base
import Foundation
import RideCore
import RuleFiles
import Testing

/// Whatever the bytes are, the loader returns a rule set that can be used for decisions, or
/// problems with valid locations.
@Suite struct `Fuzzing of rule files` {
  @Test func `No bytes do harm`() {
    Fuzz.run("rule files", cases: 1000) { chance throws(Fuzz.Fault) in
      let (files, strings) = RuleBytes.directory(by: &chance)
      switch RuleDirectory.parse(files: files, strings: strings) {
      case .success(let loaded): try use(loaded.ruleSet, &chance)
      case .failure(let failure): try check(failure.problems, of: files + strings)
      }
    }
  }

  @Test func `Each text of the grammar is in random files that load`() {
    var missing = RuleWriter.allChoices
    var loaded = 0
    for seed in 1...600 {
      var writer = RuleWriter(seed: UInt64(seed))
      let files = writer.files()
      guard (try? RuleDirectory.parse(files: files, strings: RuleWriter.strings).get()) != nil
      else {
        continue
      }
      missing.subtract(writer.choices)
      loaded += 1
    }
    #expect(missing.isEmpty, "\(missing)")
    #expect(loaded > 200)
  }

  @Test func `The files that are mutated are valid before`() {
    #expect(RuleBytes.seeds.count > 20)
    for seed in RuleBytes.whole {
      let parsed = RuleDirectory.parse(files: [("f.yaml", seed)], strings: RuleBytes.strings)
      if case .failure(let failure) = parsed {
        // Each file alone lacks the states, events and defaults of the others, and nothing else.
        #expect(
          failure.problems.allSatisfy { problem in
            ["unknown", "has no expires"].contains { problem.description.contains($0) }
          }, "\(failure)")
      }
    }
    let whole = RuleDirectory.parse(files: RuleBytes.shipped, strings: RuleBytes.strings)
    #expect((try? whole.get()) != nil)
  }

  private func check(
    _ problems: [RuleProblem], of files: [RuleBytes.File]
  ) throws(Fuzz.Fault) {
    try require(!problems.isEmpty, "refused without a problem")
    try require(problems == problems.sorted(), "out of order: \(problems)")
    for problem in problems {
      guard let file = files.first(where: { $0.name == problem.file }),
        let location = problem.location
      else { throw Fuzz.Fault(text: "without a location: \(problem)") }
      // A line ends with at least one byte, and each column has at least one.
      let isInFile =
        (1...file.bytes.count + 1).contains(location.line)
        && (1...file.bytes.count + 2).contains(location.column)
      try require(isInFile, "a location that the file does not have: \(problem)")
      try require(!problem.description.contains(where: \.isNewline), "in two lines: \(problem)")
    }
  }

  /// Checks that accepted rules work for every use of rules.
  private func use(_ rules: RuleSet, _ chance: inout Chance) throws(Fuzz.Fault) {
    for advice in RuleLint.all(about: rules) {
      try require(!advice.text.contains(where: \.isNewline), "advice in two lines: \(advice)")
    }
    let now = Timestamp(epochSeconds: 1_800_000_000)
    let states = rules.activeStates.union(rules.finalStates).sorted()
    var ride = Ride(id: "r1", state: chance.pick(of: states, else: "requested"))
    ride.customerID = "c"
    ride.driverID = "d"
    ride.pickupAt = now + .seconds(chance.number(0...100_000))
    ride.updatedAt = now - .seconds(chance.number(0...100_000))
    ride.attributes = Self.attributes(by: &chance)
    let events = rules.knownEvents.sorted().enumerated().map { index, name in
      RideEvent(id: Int64(index + 1), name: name, at: now)
    }
    let phones = [App.customer, .driver].enumerated().map { index, app in
      Phone(
        id: Int64(index), app: app, ownerID: OwnerID(String(app.rawValue.prefix(1))),
        token: "c0ffee",
        locale: chance.pick("de", "en", nil))
    }
    let card = Card(.activity(1), app: .customer, ownerID: "c", token: "ca", registeredAt: now)
    let view = RideView(
      rideID: ride.id, ride: ride, events: events, phones: phones,
      cards: chance.percent(50) ? [card] : [])
    let book = EngineConfiguration(
      rules: rules, bundleIDs: [.customer: "com.example", .driver: "com.example"])
    let decision = decide(view, by: book, now: now)
    for push in decision.pushes {
      try require(push.payload.count <= PushRequest.payloadLimit, "too large: \(push.entry)")
      try require(JSONValue(json: push.payload) != nil, "no JSON: \(push.entry)")
    }
    try require(
      decision.settlement.tallies.values.allSatisfy { $0.remainder == 0 }, "a slot is lost")
  }

  /// Returns attributes that the rules name, some with values of wrong types.
  private static func attributes(by chance: inout Chance) -> String {
    let names = ["eta", "at", "free_wait", "fare", "currency", "paid", "plate", "product", "stops"]
    var attributes: [String: JSONValue] = [:]
    for name in names where chance.percent(80) {
      attributes[name] = chance.pick(
        .integer(1_800_000_300), .integer(60), .number(12.5), .string("2027-01-15T08:00:00Z"),
        .string("taxi"), .string("JPY"), .bool(true), .null,
        .array([.object(["name": .string("A"), "at": .integer(5)])]))
    }
    return String(decoding: JSONValue.object(attributes).json, as: UTF8.self)
  }
}
