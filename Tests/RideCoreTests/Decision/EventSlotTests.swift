import Testing
import TestSupport

@testable import Base
@testable import RideCore

/// R87: firings that an event arms, through a ride's life.
@Suite("Slots after an event") struct EventSlotTests {
  private func stage(_ minutes: Int64 = 10, while states: Set<String> = ["driver_arrived"])
    -> AgendaStage
  {
    AgendaStage(
      .times([RuleTime(.event("driver_arrived"), by: .seconds(minutes * 60))]), while: states)
  }

  @Test func `R87: once, ten minutes after arrival`() {
    var stage = stage()
    stage.state("driver_arrived", at: 0)
    // The event is consumed at once: the memo has its time.
    #expect(stage.claim(at: 0) == 10)
    stage.emit("ride_updated", at: 4)
    #expect(stage.claim(at: 4) == 10)
    stage.run(until: 100, from: 10)
    #expect(stage.minutes == [10])
  }

  @Test func `each occurrence sets it anew, and fires once`() {
    var stage = stage()
    stage.state("driver_arrived", at: 0)
    stage.claim(at: 0)
    stage.emit("driver_arrived", at: 5)
    #expect(stage.claim(at: 5) == 15)
    stage.run(until: 20, from: 15)
    stage.emit("driver_arrived", at: 21)
    stage.run(until: 100, from: 21)
    #expect(stage.minutes == [15, 31])
  }

  /// When the ride leaves the states and comes back, when it is handled, and when the rule fires.
  static let absences: [(leaves: Double, returns: Double?, claims: [Double], fires: [Double])] = [
    (3, nil, [0, 3, 10, 20], []), (3, 6, [0, 3, 6, 10], [10]), (3, 12, [0, 3, 12, 30], [10]),
    // It fell due in the states, and was handled after them.
    (12, nil, [0, 13], []), (12, nil, [0, 10, 13], [10]),
  ]

  @Test(arguments: absences.indices)
  func `only in the states at that time`(index: Int) {
    let (leaves, returns, claims, fires) = Self.absences[index]
    var stage = stage()
    stage.state("driver_arrived", at: 0)
    var changes = [(leaves, "requested")]
    if let returns { changes.append((returns, "scheduled")) }
    for claim in claims {
      for (at, state) in changes where at <= claim {
        // The return is no new arrival: the event has another name than the state.
        stage.state(state == "scheduled" ? "requested" : state, at: at)
        if state == "scheduled" { stage.ride.state = "driver_arrived" }
      }
      changes.removeAll { $0.0 <= claim }
      stage.claim(at: claim)
    }
    #expect(stage.minutes == fires)
    let isOutside = fires.isEmpty
    #expect(stage.reasons == (isOutside ? ["the ride is requested, not in while"] : []))
  }

  @Test func `an event before the states counts from its own time`() {
    var stage = AgendaStage(
      .times([RuleTime(.event("eta_changed"), by: .seconds(600))]), while: ["driver_arrived"])
    stage.emit("eta_changed", at: 0)
    stage.claim(at: 0)
    stage.state("driver_arrived", at: 4)
    stage.run(until: 60, from: 4)
    #expect(stage.minutes == [10])
  }

  @Test func `R87: without an offset it fires at the event itself, and at the pickup itself`() {
    var stage = stage(0)
    stage.state("driver_arrived", at: 0)
    stage.run(until: 60)
    #expect(stage.minutes == [0])
    var pickup = AgendaStage(.times([RuleTime(.ride(.pickupAt), by: .zero)]), while: ["requested"])
    pickup.ride.pickupAt = AgendaStage.at(30)
    pickup.state("requested", at: 0)
    pickup.run(until: 60)
    #expect(pickup.minutes == [30])
  }

  @Test func `after a final state, and then the ride is over`() {
    var stage = AgendaStage(
      .times([RuleTime(.event("ride_completed"), by: .seconds(3600))]), while: ["ride_completed"])
    stage.state("ride_completed", at: 0)
    #expect(stage.claim(at: 0) == 60)
    stage.run(until: 200, from: 60)
    #expect(stage.minutes == [60] && stage.memo.isEmpty)
  }

  /// A ride's random life, handled at random times and whenever it is due, fires as an independent
  /// calculation does: for each arrival, unless another follows within the time.
  @Test(arguments: 0..<60)
  func `random lives`(seed: UInt64) {
    var numbers = SeededGenerator(seed: TestSeed.value(7) &+ seed)
    var events: [(at: Double, name: String)] = []
    var minute = 0.0
    for _ in 0..<Int.random(in: 1...12, using: &numbers) {
      minute += Double(Int.random(in: 1...14, using: &numbers))
      let names = ["driver_arrived", "requested", "eta_changed"]
      events.append((minute, names.randomElement(using: &numbers) ?? ""))
    }
    var stage = stage()
    stage.ride.state = nil
    var due: Double?
    for (at, name) in events {
      while let next = due, next < at { due = stage.claim(at: next) }
      if name == "eta_changed" { stage.emit(name, at: at) } else { stage.state(name, at: at) }
      due = stage.claim(at: at)
    }
    while let next = due, next < 1000 { due = stage.claim(at: next) }
    var expected: [Double] = []
    let arrivals = events.filter { $0.name == "driver_arrived" }.map { $0.at }
    for arrival in arrivals {
      let slot = arrival + 10
      if arrivals.contains(where: { $0 > arrival && $0 < slot }) { continue }
      let state = events.last { $0.name != "eta_changed" && $0.at <= slot }?.name
      if state == "driver_arrived" { expected.append(slot) }
    }
    #expect(stage.minutes == expected, "seed \(seed): \(events)")
  }
}
