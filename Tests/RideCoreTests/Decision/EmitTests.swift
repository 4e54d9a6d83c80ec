import Testing

@testable import RideCore

/// `emit` as what a rule does.
@Suite("emit") struct EmitTests {
  private func rule(
    _ name: String, _ when: Rule.When, _ event: String = "eta_changed", wait: Int64? = nil
  ) -> Rule {
    var rule = Rule(
      name: name, app: .driver, when: when, what: .emit(event), expires: .ofEmit,
      source: "sample.yaml:1")
    rule.wait = wait.map { .seconds($0) }
    return rule
  }

  private func outcome(
    _ view: RideView, _ rules: [Rule], at seconds: Double = 0
  ) -> (decision: Decision, settlement: Settlement) {
    let now = Sample.now + .microseconds(Int64(seconds * 1e6))
    let decision = decide(view, by: Sample.book(rules), now: now)
    return (decision, decision.settled(decision.pushes.map { _ in .accepted }, now: now) { 0.5 })
  }

  @Test func `the settlement has the event, with the cause's data, and the ledger the rule`() {
    let view = Sample.view(events: [Sample.event(data: #"{"minutes": 3.0}"#)])
    let (decision, settlement) = outcome(view, [rule("e", .on(["driver_arrived"]))])
    #expect(settlement.emits.map(\.name) == ["eta_changed"])
    #expect(settlement.emits.map(\.data) == [#"{"minutes": 3.0}"#])
    #expect(decision.reasons == ["suppressed: emitted eta_changed"])
    #expect(decision.closed.map(\.reason?.code) == [.engine(.emitted)])
    #expect(settlement.nextDue == Sample.now && !settlement.isOver)
  }

  @Test func `the next decision handles the event, once, for whom the ride names`() throws {
    var view = Sample.view()
    let rules = [
      rule("e", .on(["driver_arrived"])), Sample.rule("next", app: .driver, on: ["eta_changed"]),
    ]
    view.apply(outcome(view, rules).settlement)
    #expect(view.events.map(\.name) == ["eta_changed"] && view.events.map(\.id) == [2])
    let (decision, settlement) = outcome(view, rules)
    #expect(decision.pushes.map(\.entry.rule) == ["next"])
    view.apply(settlement)
    #expect(view.events.isEmpty && view.memo.isEmpty)
    #expect(outcome(view, rules).decision.pushes.isEmpty)
  }

  @Test func `not outside the states`() {
    let book = [rule("e", .on(["driver_arrived"], while: ["requested"]))]
    let (decision, settlement) = outcome(Sample.view(), book)
    #expect(settlement.emits.isEmpty)
    #expect(decision.reasons == ["suppressed: the ride is driver_arrived, not in while"])
  }

  @Test func `it needs neither a person nor a phone, and does not expire`() {
    var view = Sample.view(phones: [])
    view.ride?.driverID = nil
    view.events = [RideEvent(id: 1, name: "driver_arrived", at: Sample.now - .seconds(9_000_000))]
    #expect(outcome(view, [rule("e", .on(["driver_arrived"]))]).settlement.emits.count == 1)
    view.ride = nil
    let (decision, settlement) = outcome(view, [rule("e", .on(["driver_arrived"]))])
    #expect(settlement.emits.isEmpty && decision.reasons == ["suppressed: ride not found"])
  }

  @Test func `with wait, later, and only if the states hold then`() {
    let rules = [rule("e", .on(["driver_arrived"], while: ["driver_arrived"]), wait: 120)]
    var view = Sample.view()
    let (_, first) = outcome(view, rules)
    #expect(first.emits.isEmpty && first.nextDue == Sample.now + .seconds(119))
    #expect(first.entries.map(\.status) == [.pending])
    view.apply(first)
    #expect(outcome(view, rules, at: 119).settlement.emits.count == 1)
    view.ride?.state = "requested"
    let (decision, left) = outcome(view, rules, at: 119)
    #expect(left.emits.isEmpty && left.memo.isEmpty)
    #expect(decision.reasons == ["suppressed: the ride is requested, not in while"])
  }

  @Test func `a slot emits once, however often the ride is handled`() {
    let slots = Timing(.every(.seconds(60)), while: ["driver_arrived"])
    let rules = [rule("beat", .at(slots))]
    var view = Sample.view(events: [Sample.event()])
    var emitted = 0
    for second in stride(from: 0.0, through: 300, by: 7) {
      let settlement = outcome(view, rules, at: second).settlement
      emitted += settlement.emits.count
      view.apply(settlement)
    }
    #expect(emitted == 4)
  }

  @Test func `a pass in several parts emits once`() {
    let phones = (1...2500).map { number in
      Sample.phone(Int64(number), token: "ab" + String(100_000 + number))
    }
    let rules = [rule("e", .on(["driver_arrived"])), Sample.rule()]
    var view = Sample.view(phones: phones)
    var emitted = 0
    var parts = 0
    repeat {
      let settlement = outcome(view, rules).settlement
      emitted += settlement.emits.count
      view.apply(settlement)
      parts += 1
    } while view.memo.part != nil && parts < 20
    #expect(emitted == 1 && parts > 2)
  }
}
