import Testing

@testable import Base
@testable import RideCore

@Suite("Heartbeats") struct SlotTests {
  private func stage(_ period: Duration = .seconds(1200)) -> AgendaStage {
    AgendaStage(.every(period), while: ["driver_arrived"])
  }

  @Test func `one period after entering, and each period; never before`() {
    var stage = stage()
    stage.state("driver_arrived", at: 0)
    stage.run(until: 65)
    #expect(stage.minutes.count == 3)
    for (index, minute) in stage.minutes.enumerated() {
      #expect(minute >= Double(20 * (index + 1)) && minute < Double(20 * (index + 1) + 2))
    }
    #expect(stage.tally.fired == 3 && stage.tally.remainder == 0)
  }

  @Test func `R19: a background push shows nothing and has priority 5, whatever the rule states`()
    throws
  {
    var rule = Sample.rule(data: ["kind": .literal(.string("beat")), "aps": .literal(.integer(1))])
    rule.what = .background
    let push = try #require(
      decide(Sample.view(), by: Sample.book([rule]), now: Sample.now).pushes.first)
    #expect(push.headers.pushType == .background && push.headers.priority == .powerAware)
    #expect(
      String(decoding: push.payload, as: UTF8.self)
        == #"{"aps":{"content-available":1},"kind":"beat"}"#)
  }

  /// R50.
  @Test func `looked at every ten minutes, an hour's period still gives 24 a day`() {
    var stage = stage(.seconds(3600))
    stage.rule.expires = .after(.seconds(900))
    stage.state("driver_arrived", at: 0)
    stage.emit("ride_updated", at: 5)
    // Only the memo persists from one claim to the next: each claim is like a restart.
    for minute in stride(from: 0.0, through: 25 * 60 - 1, by: 10) { stage.claim(at: minute) }
    #expect(stage.slots.count == 24)
    #expect(stage.tally.fired == 24 && stage.tally.due == 24)
  }

  @Test func `too late ones are counted and not bunched`() {
    var stage = stage()
    stage.state("driver_arrived", at: 0)
    stage.claim(at: 0)
    stage.claim(at: 83)
    #expect(stage.slots.count == 1)
    #expect(stage.tally.due == 4 && stage.tally.fired == 1 && stage.tally.skipped == 3)
    #expect(stage.reasons == ["too late: the next slot was due (3 slots up to this one)"])
  }

  @Test func `it is valid until the next one at the longest`() throws {
    var stage = stage(.seconds(60))
    stage.rule.expires = .after(.seconds(86_400))
    #expect(stage.rule.validity == .seconds(60))
  }

  @Test func `none once the ride has left, and none from the time before it came back`() {
    var stage = stage()
    stage.state("driver_arrived", at: 0)
    stage.claim(at: 0)
    stage.state("requested", at: 50)
    #expect(stage.claim(at: 51) == nil)
    #expect(stage.slots.isEmpty)
    #expect(stage.tally.due == 2 && stage.tally.skipped == 2)
    stage.state("driver_arrived", at: 100)
    let next = stage.claim(at: 100)
    #expect(next.map { $0 >= 120 && $0 < 122 } == true)
  }

  @Test func `moving between its states does not restart the slots`() {
    var stage = AgendaStage(.every(.seconds(1200)), while: ["driver_arrived", "requested"])
    stage.state("requested", at: 0)
    let first = stage.claim(at: 0)
    stage.state("driver_arrived", at: 15)
    #expect(stage.claim(at: 15) == first)
  }

  @Test func `a rule that is new to a ride does not make up for earlier slots`() {
    var stage = stage()
    stage.ride.state = "driver_arrived"
    stage.ride.updatedAt = AgendaStage.at(-500)
    let next = stage.claim(at: 0)
    #expect(next.map { $0 > 0 && $0 <= 20 } == true)
    #expect(stage.tally.due == 0)
  }

  @Test func `rides that came together do not beat together`() {
    let firsts = (0..<200).compactMap { number -> Int64? in
      SlotSeries.beats(
        since: AgendaStage.start, period: .seconds(1200), of: "ride-\(number)", rule: "r"
      )
      .next(after: AgendaStage.start)?.epochSeconds
    }
    #expect(Set(firsts).count > 80)
    #expect(firsts.allSatisfy { (1200..<1320).contains($0 - AgendaStage.start.epochSeconds) })
  }

  @Test func `R73: heartbeats stop a day after the last change, and resume with the next`() {
    var stage = stage(.seconds(6 * 3600))
    stage.state("driver_arrived", at: 0)
    stage.run(until: 3 * 1440)
    #expect(stage.slots.count == 3)
    #expect(stage.claim(at: 3 * 1440 + 1) == nil)
    #expect(stage.tally.due == 11 && stage.tally.skipped == 8 && stage.tally.remainder == 0)
    #expect(stage.reasons == ["the ride had not changed for 1d (8 slots up to this one)"])
    stage.emit("eta_changed", at: 4 * 1440)
    let next = stage.claim(at: 4 * 1440)
    #expect(next.map { $0 > 4 * 1440 && $0 < 4 * 1440 + 363 } == true)
    stage.run(until: 8 * 1440, from: 4 * 1440)
    #expect(stage.slots.count == 7 && stage.tally.remainder == 0)
  }

  @Test func `R73: an event that is not a state keeps heartbeats going; lost-after sets the limit`()
  {
    var stage = stage(.seconds(3600))
    stage.rule.when = .at(
      Timing(.every(.seconds(3600)), while: ["driver_arrived"], lostAfter: .seconds(7200)))
    stage.state("driver_arrived", at: 0)
    stage.run(until: 600)
    #expect(stage.slots.count == 1)
    stage.ride.updatedAt = AgendaStage.at(600)
    stage.claim(at: 600)
    stage.run(until: 1200, from: 600)
    #expect(stage.slots.count == 3)
    #expect(stage.tally.remainder == 0)
  }

  @Test func `R73: a ride that leaves the states after a long silence has each slot once`() {
    var stage = stage(.seconds(3600))
    stage.state("driver_arrived", at: 0)
    stage.run(until: 3 * 1440)
    stage.state("requested", at: 3 * 1440)
    stage.claim(at: 3 * 1440)
    #expect(stage.tally.due == 71 && stage.tally.fired == 23 && stage.tally.remainder == 0)
  }

  @Test func `a retry ends where the ride leaves the states`() {
    var stage = stage()
    stage.state("driver_arrived", at: 0)
    let due = stage.claim(at: 0) ?? 0
    var memo = stage.memo
    let view = Sample.view(ride: stage.ride, events: [], memo: memo)
    let decision = decide(view, by: Sample.book([stage.rule]), now: AgendaStage.at(due))
    let refused = PushOutcome.refused(Refusal(status: 503, reason: "Shutdown"))
    memo = decision.settled([refused], now: AgendaStage.at(due)) { 0.5 }.memo
    #expect(memo.waiting.count == 1)
    stage.memo = memo
    stage.state("requested", at: due + 0.01)
    stage.claim(at: due + 2)
    #expect(stage.slots.isEmpty)
    #expect(stage.reasons == ["the ride is requested, not in while"])
  }

  @Test func `a retry ends if the ride names another person by then`() {
    var stage = stage()
    stage.state("driver_arrived", at: 0)
    let due = stage.claim(at: 0) ?? 0
    let view = Sample.view(ride: stage.ride, events: [], memo: stage.memo)
    let decision = decide(view, by: Sample.book([stage.rule]), now: AgendaStage.at(due))
    let refused = PushOutcome.refused(Refusal(status: 503, reason: "Shutdown"))
    stage.memo = decision.settled([refused], now: AgendaStage.at(due)) { 0.5 }.memo
    #expect(stage.memo.waiting.count == 1)
    stage.ride.driverID = "another"
    stage.claim(at: due + 2)
    #expect(stage.slots.isEmpty)
    #expect(stage.reasons == ["the ride has another driver now"])
  }
}

@Suite("Reminders") struct ReminderTests {
  private func stage(_ offset: Int64 = -15) -> AgendaStage {
    AgendaStage(
      .times([RuleTime(.ride(.pickupAt), by: .seconds(offset * 60))]), while: ["requested"])
  }

  @Test func `once, before the time`() {
    var stage = stage()
    stage.ride.pickupAt = AgendaStage.at(60)
    stage.state("requested", at: 0)
    stage.run(until: 200)
    #expect(stage.minutes == [45])
    #expect(stage.tally.fired == 1 && stage.tally.due == 1)
  }

  /// An attribute's value, and the reason that the ledger shows; nil if the reminder fires.
  static let values: [(String, String?)] = [
    (#""soon""#, #"attributes.lands "soon" is not a time"#),
    ("true", "attributes.lands true is not a time"),
    ("1763712000000", "attributes.lands 1763712000000 is not a time"),
    (#""2026-11-21 08:00""#, #"attributes.lands "2026-11-21 08:00" is not a time"#),
    ("null", ""), (#""""#, ""), ("\(AgendaStage.at(60).epochSeconds)", nil),
  ]

  @Test(arguments: values)
  func `R91: a time that can't be read is recorded once, and never silent`(
    value: String, reason: String?
  ) {
    var stage = AgendaStage(
      .times([RuleTime(.ride(.attribute(["lands"])), by: .seconds(600))]), while: ["requested"])
    stage.ride.attributes = #"{"lands": \#(value)}"#
    stage.state("requested", at: 0)
    stage.claim(at: 0)
    stage.emit("eta_changed", at: 1)
    stage.claim(at: 1)
    stage.run(until: 200, from: 2)
    #expect(stage.slots.count == (reason == nil ? 1 : 0))
    #expect(stage.reasons == [reason].compactMap(\.self).filter { !$0.isEmpty })
    #expect(stage.closed.allSatisfy { $0.reason?.code == .engine(.notATime) && $0.rule == "r" })
  }

  @Test func `after a time that an attribute holds`() {
    var stage = AgendaStage(
      .times([RuleTime(.ride(.attribute(["lands"])), by: .seconds(600))]), while: ["requested"])
    stage.ride.attributes = #"{"lands": \#(AgendaStage.at(60).epochSeconds)}"#
    stage.state("requested", at: 0)
    stage.run(until: 200)
    #expect(stage.minutes == [70])
  }

  /// When the time moves, to what, and when the reminder fires.
  static let moves: [(at: Double, to: Double?, slots: [Double])] = [
    (10, 90, [75]), (10, 30, [15]), (10, nil, []), (44, 60, [45]),
    // The reminder has already fired: a small change is ignored, a new appointment is not.
    (46, 61, [45]), (46, 65, [45, 50]), (46, 240, [45, 225]), (46, nil, [45]),
  ]

  @Test(arguments: moves.indices)
  func `it moves with the time`(index: Int) {
    let (at, to, slots) = Self.moves[index]
    var stage = stage()
    stage.ride.pickupAt = AgendaStage.at(60)
    stage.state("requested", at: 0)
    var next = stage.claim(at: 0)
    while let due = next, due <= at { next = stage.claim(at: due) }
    stage.pickup(to, at: at)
    next = stage.claim(at: at)
    while let due = next, due < 500 { next = stage.claim(at: due) }
    #expect(stage.minutes == slots)
    #expect(stage.tally.remainder == 0)
  }

  @Test func `set in the past it is skipped, with the reason`() {
    var stage = stage()
    stage.ride.pickupAt = AgendaStage.at(10)
    stage.state("requested", at: 0)
    stage.run(until: 100)
    #expect(stage.minutes.isEmpty)
    let time = CivilTime.iso(AgendaStage.at(-5))
    #expect(stage.reasons == ["its time, \(time), had passed when it was set"])
    #expect(stage.tally.skipped == 1 && stage.tally.due == 1)
  }

  /// When the pickup is by the time that it is set, and whether the rule may be so late.
  static let late: [(pickup: Double, fires: Bool)] = [(10, false), (12.5, true), (14, true)]

  @Test(arguments: late)
  func `R91: late lets it fire at once, if it is not later`(pickup: Double, fires: Bool) {
    var stage = stage()
    if case .at(var timing) = stage.rule.when {
      timing.late = .seconds(180)
      stage.rule.when = .at(timing)
    }
    stage.ride.pickupAt = AgendaStage.at(pickup)
    stage.state("requested", at: 0)
    stage.run(until: 100)
    #expect(stage.minutes == (fires ? [pickup - 15] : []) && stage.tally.remainder == 0)
  }

  @Test func `two times of the ride are two firings, and one if they coincide`() {
    for (other, expected) in [(-45, [15.0, 45]), (-15, [45])] {
      var stage = stage()
      stage.rule.when = .at(
        Timing(
          .times([
            RuleTime(.ride(.pickupAt), by: .seconds(-900)),
            RuleTime(.ride(.attribute(["at"])), by: .seconds(Int64(other) * 60)),
          ]), while: ["requested"]))
      stage.ride.pickupAt = AgendaStage.at(60)
      stage.ride.attributes = #"{"at": \#(AgendaStage.at(60).epochSeconds)}"#
      stage.state("requested", at: 0)
      stage.run(until: 200)
      #expect(stage.minutes == expected)
    }
  }

  @Test func `moved into the past it is skipped, with the reason`() {
    var stage = stage()
    stage.state("requested", at: 0)
    stage.claim(at: 0)
    stage.pickup(40, at: 30)
    stage.claim(at: 30)
    #expect(stage.minutes.isEmpty && stage.tally.skipped == 1)
  }

  @Test func `a late service sends while the push is valid; then it expires`() {
    for (minute, fired) in [(46.0, 1), (55.0, 0)] {
      var stage = stage()
      stage.ride.pickupAt = AgendaStage.at(60)
      stage.state("requested", at: 0)
      stage.claim(at: 0)
      stage.claim(at: minute)
      #expect(stage.slots.count == fired)
      #expect(stage.tally.fired == fired && stage.tally.expired == 1 - fired)
    }
  }

  @Test func `after the ride's end, and then the ride is over`() {
    var stage = AgendaStage(
      .times([RuleTime(.ride(.pickupAt), by: .seconds(3600))]), while: ["ride_completed"])
    stage.ride.pickupAt = AgendaStage.at(0)
    stage.state("ride_completed", at: 30)
    #expect(stage.claim(at: 30) == 60)
    #expect(stage.claim(at: 60) == nil)
    #expect(stage.minutes == [60])
    #expect(stage.memo.isEmpty)
  }
}
