import Base
import Testing

@testable import RideCore
@testable import Timeline

/// `emit` as what a rule does.
@Suite("emit") struct EmitTests {
  private func rule(
    _ name: String, _ when: Rule.When, _ event: String = "eta_changed", wait: Int64? = nil
  ) -> Rule {
    var rule = Rule(
      name: name, app: .driver, when: when, what: .emit(event), expires: .ofEmit,
      source: "sample.yaml:1")
    rule.delay(by: wait.map { .seconds($0) })
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
    #expect(decision.reasons == ["accepted: emitted eta_changed"])
    #expect(decision.ended.map(\.reason?.code) == [.engine(.emitted)])
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

  /// Handles a ride whenever it is due; returns how many events its rules emit.
  private func run(
    _ view: inout RideView, _ rules: [Rule], from: Double = 0, through: Double
  ) -> (emitted: Int, refused: Int, end: Settlement?) {
    var (emitted, refused, due, end) = (0, 0, Double?.some(from), Settlement?.none)
    while let now = due, now <= through {
      view.reporters = view.memo.escalationOwners
      let (_, settled) = outcome(view, rules, at: now)
      emitted += settled.emits.count
      refused += settled.entries.count { $0.reason?.code == .engine(.emitLimit) }
      view.apply(settled)
      due = settled.nextDue.map { max(now, Double(($0 - Sample.now).microseconds) / 1e6) }
      end = settled
    }
    return (emitted, refused, end)
  }

  @Test func `A14: rules that double their events each second are bounded, with a reason`() throws {
    // Each event fires both rules, so that there are twice as many after each wait.
    let rules = ["a", "b"].map { rule($0, .on(["driver_arrived", "eta_changed"]), wait: 1) }
    var view = Sample.view()
    let circle = run(&view, rules, through: 3600)
    #expect(circle.emitted == EmitTally.limit && circle.refused > 0)
    #expect(circle.end?.nextDue == nil && view.memo.isEmpty, "it has ended by itself")
    let refusal = outcomeReason(of: rules)
    #expect(
      refusal == "the ride's rules emitted 200 events within 10m: do they fire each other?")
  }

  /// Returns the first reason with which an event is refused.
  private func outcomeReason(of rules: [Rule]) -> String? {
    var view = Sample.view()
    view.memo.emitTally = EmitTally(since: Sample.now)
    view.memo.emitTally?.count = EmitTally.limit
    return outcome(view, rules, at: 119).settlement.entries.first?.reason?.text
  }

  @Test func `A14: a circle ends at the ride's end`() throws {
    // One event each minute is below the limit of a live ride.
    let rules = [rule("a", .on(["driver_arrived", "eta_changed"]), wait: 60)]
    var view = Sample.view()
    let live = run(&view, rules, through: 86_400)
    #expect(live.emitted > 1400 && live.refused == 0)
    view.ride?.state = "ride_completed"
    let over = run(&view, rules, from: 86_400, through: 1_000_000)
    #expect(over.emitted == EmitTally.limitAfterEnd && over.refused == 1)
    #expect(over.end?.isOver == true)
  }

  @Test func `A14: an escalation and a slot after an event count alike`() throws {
    var offer = Sample.rule("offer", on: ["driver_arrived", "eta_changed"])
    offer.escalation = Escalation(unlessSeenWithin: .seconds(1), emit: "eta_changed")
    var view = Sample.view()
    let escalated = run(&view, [offer], through: 3600)
    #expect(escalated.emitted == EmitTally.limit && escalated.refused == 1)
    view = Sample.view()
    view.events.append(Sample.event(2, "eta_changed"))
    let slot = rule(
      "slot",
      .at(
        Timing(
          .times([RuleTime(.event("eta_changed"), by: .seconds(1))]),
          while: ["driver_arrived", "ride_completed"]))
    )
    let timed = run(&view, [slot], through: 3600)
    #expect(timed.emitted == EmitTally.limit && timed.refused == 1)
  }

  @Test func `A14: what a ride emitted ten minutes ago does not count, nor does another ride`() {
    var view = Sample.view()
    view.memo.emitTally = EmitTally(since: Sample.now - EmitTally.period)
    view.memo.emitTally?.count = EmitTally.limit
    let settled = outcome(view, [rule("e", .on(["driver_arrived"]))]).settlement
    #expect(settled.emits.count == 1 && settled.memo.emitTally?.count == 1)
    view.memo.emitTally?.since = Sample.now - EmitTally.period + .microseconds(1)
    #expect(outcome(view, [rule("e", .on(["driver_arrived"]))]).settlement.emits.isEmpty)
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

  @Test func `R86: an event is emitted only if the condition is true, and remember works`() throws {
    var moved = rule("moved", .on(["ride_updated"]))
    moved.condition = try Condition(
      "last == null || math.abs(ride.attributes.eta - last.eta) > 180", remembering: [["eta"]])
    var view = Sample.view(phones: [])
    var emitted: [Int] = []
    for (index, eta) in [1000, 1100, 1181, 1300, 1362].enumerated() {
      view.ride?.attributes = "{\"eta\": \(eta)}"
      view.events = [Sample.event(Int64(index + 1), "ride_updated")]
      let (decision, settlement) = outcome(view, [moved])
      if !settlement.emits.isEmpty { emitted.append(eta) }
      #expect(settlement.falseConditions == (settlement.emits.isEmpty ? ["moved": 1] : [:]))
      #expect(decision.ended.count == settlement.emits.count)
      view.memo = settlement.memo
    }
    #expect(emitted == [1000, 1181, 1362])
  }

  @Test func `the condition of an event at a time is decided at that time`() throws {
    var later = rule("later", .on(["driver_arrived"]), wait: 60)
    later.condition = try Condition(
      "!ride.attributes.paid && last == null", remembering: [["paid"]])
    for (paid, reason) in [
      (false, "accepted: emitted eta_changed"), (true, "suppressed: if is false"),
    ] {
      var view = Sample.view(
        events: [RideEvent(id: 1, name: "driver_arrived", at: Sample.now)], phones: [])
      view.ride?.attributes = #"{"paid": true}"#
      let first = outcome(view, [later])
      #expect(first.settlement.emits.isEmpty && first.decision.ended.isEmpty)
      view.apply(first.settlement)
      view.ride?.attributes = "{\"paid\": \(paid)}"
      let then = outcome(view, [later], at: 60)
      #expect(then.decision.reasons == [reason])
      #expect(then.settlement.emits.count == (paid ? 0 : 1))
      #expect(then.settlement.memo.conditions["later"]?.last == (paid ? nil : #"{"paid":false}"#))
    }
  }
}
