import Testing

@testable import RideCore

@Suite struct `Heartbeats` {
  private func desk(_ period: Duration = .seconds(1200)) -> Desk {
    Desk(.every(period), while: ["driver_arrived"])
  }

  @Test func `one period after entering, and each period; never before`() {
    var desk = desk()
    desk.state("driver_arrived", at: 0)
    desk.run(until: 65)
    #expect(desk.minutes.count == 3)
    for (index, minute) in desk.minutes.enumerated() {
      #expect(minute >= Double(20 * (index + 1)) && minute < Double(20 * (index + 1) + 2))
    }
    #expect(desk.tally.fired == 3 && desk.tally.remainder == 0)
  }

  @Test func `R19: a background push shows nothing and has priority 5, whatever else is said`()
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
    var desk = desk(.seconds(3600))
    desk.rule.expires = .after(.seconds(900))
    desk.state("driver_arrived", at: 0)
    // Nothing but the memo lives from one look to the next: each is a restart.
    for minute in stride(from: 0.0, through: 25 * 60 - 1, by: 10) { desk.look(at: minute) }
    #expect(desk.slots.count == 24)
    #expect(desk.tally.fired == 24 && desk.tally.due == 24)
  }

  @Test func `too late ones are counted and not bunched`() {
    var desk = desk()
    desk.state("driver_arrived", at: 0)
    desk.look(at: 0)
    desk.look(at: 83)
    #expect(desk.slots.count == 1)
    #expect(desk.tally.due == 4 && desk.tally.fired == 1 && desk.tally.skipped == 3)
    #expect(desk.reasons == ["too late, the next was due (3 slots up to this one)"])
  }

  @Test func `it is true until the next one at the longest`() throws {
    var desk = desk(.seconds(60))
    desk.rule.expires = .after(.seconds(86_400))
    #expect(desk.rule.truth == .seconds(60))
  }

  @Test func `none once the ride has left, and none from the time before it came back`() {
    var desk = desk()
    desk.state("driver_arrived", at: 0)
    desk.look(at: 0)
    desk.state("requested", at: 50)
    #expect(desk.look(at: 51) == nil)
    #expect(desk.slots.isEmpty)
    #expect(desk.tally.due == 2 && desk.tally.skipped == 2)
    desk.state("driver_arrived", at: 100)
    let next = desk.look(at: 100)
    #expect(next.map { $0 >= 120 && $0 < 122 } == true)
  }

  @Test func `moving between its states does not begin anew`() {
    var desk = Desk(.every(.seconds(1200)), while: ["driver_arrived", "requested"])
    desk.state("requested", at: 0)
    let first = desk.look(at: 0)
    desk.state("driver_arrived", at: 15)
    #expect(desk.look(at: 15) == first)
  }

  @Test func `a rule that is new to a ride does not make up for what was before`() {
    var desk = desk()
    desk.ride.state = "driver_arrived"
    desk.ride.updatedAt = Desk.at(-500)
    let next = desk.look(at: 0)
    #expect(next.map { $0 > 0 && $0 <= 20 } == true)
    #expect(desk.tally.due == 0)
  }

  @Test func `rides that came together do not beat together`() {
    let firsts = (0..<200).compactMap { number -> Int64? in
      SlotSeries.beats(since: Desk.start, period: .seconds(1200), of: "ride-\(number)", rule: "r")
        .next(after: Desk.start)?.epochSeconds
    }
    #expect(Set(firsts).count > 80)
    #expect(firsts.allSatisfy { (1200..<1320).contains($0 - Desk.start.epochSeconds) })
  }

  @Test func `a retry ends where the ride leaves the states`() {
    var desk = desk()
    desk.state("driver_arrived", at: 0)
    let due = desk.look(at: 0) ?? 0
    var memo = desk.memo
    let view = Sample.view(ride: desk.ride, events: [], memo: memo)
    let decision = decide(view, by: Sample.book([desk.rule]), now: Desk.at(due))
    let refused = PushOutcome.refused(Refusal(status: 503, reason: "Shutdown"))
    memo = decision.settled([refused], now: Desk.at(due)) { 0.5 }.memo
    #expect(memo.retries.count == 1)
    desk.memo = memo
    desk.state("requested", at: due + 0.01)
    desk.look(at: due + 2)
    #expect(desk.slots.isEmpty)
    #expect(desk.reasons == ["the ride left the states of the rule"])
  }
}

@Suite struct `Reminders` {
  private func desk(_ offset: Int64 = -15) -> Desk {
    Desk(.relative(to: .pickupAt, by: .seconds(offset * 60)), while: ["requested"])
  }

  @Test func `once, before the time`() {
    var desk = desk()
    desk.ride.pickupAt = Desk.at(60)
    desk.state("requested", at: 0)
    desk.run(until: 200)
    #expect(desk.minutes == [45])
    #expect(desk.tally.fired == 1 && desk.tally.due == 1)
  }

  @Test func `after a time that an attribute holds`() {
    var desk = Desk(
      .relative(to: .attribute(["lands"]), by: .seconds(600)), while: ["requested"])
    desk.ride.attributes = #"{"lands": \#(Desk.at(60).epochSeconds)}"#
    desk.state("requested", at: 0)
    desk.run(until: 200)
    #expect(desk.minutes == [70])
  }

  /// When the time moves, to what, and when the reminder comes.
  static let moves: [(at: Double, to: Double?, slots: [Double])] = [
    (10, 90, [75]), (10, 30, [15]), (10, nil, []), (44, 60, [45]),
    // Told already: a small move is no news, another appointment is.
    (46, 65, [45]), (46, 70, [45]), (46, 240, [45, 225]), (46, nil, [45]),
  ]

  @Test(arguments: moves.indices)
  func `it moves with the time`(index: Int) {
    let (at, to, slots) = Self.moves[index]
    var desk = desk()
    desk.ride.pickupAt = Desk.at(60)
    desk.state("requested", at: 0)
    var next = desk.look(at: 0)
    while let due = next, due <= at { next = desk.look(at: due) }
    desk.pickup(to, at: at)
    next = desk.look(at: at)
    while let due = next, due < 500 { next = desk.look(at: due) }
    #expect(desk.minutes == slots)
    #expect(desk.tally.remainder == 0)
  }

  @Test func `set in the past it is skipped, with the reason`() {
    var desk = desk()
    desk.ride.pickupAt = Desk.at(10)
    desk.state("requested", at: 0)
    desk.run(until: 100)
    #expect(desk.minutes.isEmpty)
    #expect(desk.reasons == ["it had passed when it was set"])
    #expect(desk.tally.skipped == 1 && desk.tally.due == 1)
  }

  @Test func `moved into the past it is skipped, with the reason`() {
    var desk = desk()
    desk.state("requested", at: 0)
    desk.look(at: 0)
    desk.pickup(40, at: 30)
    desk.look(at: 30)
    #expect(desk.minutes.isEmpty && desk.tally.skipped == 1)
  }

  @Test func `the service was late: told while it is true, expired after`() {
    for (look, fired) in [(46.0, 1), (55.0, 0)] {
      var desk = desk()
      desk.ride.pickupAt = Desk.at(60)
      desk.state("requested", at: 0)
      desk.look(at: 0)
      desk.look(at: look)
      #expect(desk.slots.count == fired)
      #expect(desk.tally.fired == fired && desk.tally.expired == 1 - fired)
    }
  }

  @Test func `after the ride's end, and then the ride is over`() {
    var desk = Desk(.relative(to: .pickupAt, by: .seconds(3600)), while: ["ride_completed"])
    desk.ride.pickupAt = Desk.at(0)
    desk.state("ride_completed", at: 30)
    #expect(desk.look(at: 30) == 60)
    #expect(desk.look(at: 60) == nil)
    #expect(desk.minutes == [60])
    #expect(desk.memo.isEmpty)
  }
}
