import Foundation
import Testing

@testable import RideCore

/// One ride with one rule that speaks by the clock, looked at again and again.
private struct Desk {
  var rule: Rule
  var ride = Sample.ride()
  var memo = Memo()
  var events: [RideEvent] = []
  var slots: [Instant] = []
  var closed: [LedgerEntry] = []
  var tally = SlotTally()
  private var lastEvent: Int64 = 0

  init(_ slots: Timing.Slots, while states: Set<String>, expires: Duration = .seconds(300)) {
    rule = Sample.rule("r", app: .driver, body: "at {{event.at}}", expires: .after(expires))
    rule.when = .at(Timing(slots, while: states))
    ride.state = "requested"
  }

  static let start = Sample.now
  static func at(_ minutes: Double) -> Instant { start + .microseconds(Int64(minutes * 6e7)) }

  /// The ride's state changes.
  mutating func state(_ state: String, at minutes: Double) {
    ride.state = state
    emit(state, at: minutes)
  }

  mutating func pickup(_ pickup: Double?, at minutes: Double) {
    ride.pickupAt = pickup.map(Self.at)
    emit("ride_updated", at: minutes)
  }

  mutating func emit(_ name: String, at minutes: Double) {
    lastEvent += 1
    ride.updatedAt = Self.at(minutes)
    events.append(RideEvent(id: lastEvent, name: name, at: Self.at(minutes)))
  }

  /// The engine looks; when it is to look again.
  @discardableResult
  mutating func look(at minutes: Double) -> Double? {
    look(Self.at(minutes)).map { Double(($0 - Self.start).microseconds) / 6e7 }
  }

  @discardableResult
  mutating func look(_ now: Instant) -> Instant? {
    let decision = decide(
      Sample.view(ride: ride, events: events, memo: memo), by: Sample.book([rule]), now: now)
    let outcomes = decision.pushes.map { _ in PushOutcome.accepted }
    let settlement = decision.settled(outcomes, now: now) { 0.5 }
    slots += decision.pushes.filter { $0.entry.rule == "r" }.map(\.entry.event.at)
    closed += decision.closed
    tally += settlement.tallies["r"] ?? SlotTally()
    memo = settlement.memo
    events = []
    return settlement.nextDue
  }

  /// The service runs: it looks whenever something is due.
  mutating func run(until minutes: Double) {
    var next = look(Self.at(minutes - minutes))
    while let due = next, due <= Self.at(minutes) { next = look(due) }
  }

  var minutes: [Double] { slots.map { Double(($0 - Self.start).microseconds) / 6e7 } }
  var reasons: [String] { closed.map { $0.reason ?? "" } }
}

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

  @Test func `a background push shows nothing and has priority 5, whatever else is said`() throws {
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

@Suite struct `Cron rules` {
  private func desk(
    _ expression: String, _ missed: Timing.Missed = .skip, zone: String? = "UTC",
    expires: Duration = .seconds(86_400)
  ) throws -> Desk {
    let zone: Timing.Zone =
      if let zone { .named(try #require(ZoneTimes(identifier: zone))) } else { .ride }
    return Desk(
      .cron(try CronSchedule(expression), zone: zone, missed: missed), while: ["requested"],
      expires: expires)
  }

  /// R45: three hours down with four slots an hour; the slots keep their own time.
  @Test(arguments: [
    (Timing.Missed.skip, 0, 0), (.latest, 1, 0), (.all(atMost: 10), 10, 2),
    (.all(atMost: 99), 12, 0),
  ])
  func `after three hours down`(missed: Timing.Missed, fired: Int, capped: Int) throws {
    var desk = try desk("*/15 * * * *", missed)
    desk.state("requested", at: 1)
    desk.look(at: 1)
    desk.look(at: 187)
    let slots: [Double] = stride(from: 15, through: 180, by: 15).suffix(fired).map { $0 }
    #expect(desk.minutes == slots)
    #expect(desk.tally.due == 12 && desk.tally.fired == fired && desk.tally.capped == capped)
    #expect(desk.tally.remainder == 0)
    #expect(desk.look(at: 187) == 195)
  }

  /// R46.
  @Test func `after thirty days down with a slot a minute: the bound, and the rest is counted`()
    throws
  {
    var desk = try desk("* * * * *", .all(atMost: 10))
    desk.state("requested", at: 0)
    desk.look(at: 0)
    desk.look(at: 43_200.5)
    // Three are on time, ten are made up for.
    #expect(desk.slots.count == 12 || desk.slots.count == 13)
    #expect(desk.tally.due == 43_200 && desk.tally.remainder == 0)
    #expect(desk.tally.capped == 43_200 - desk.slots.count)
    #expect(desk.reasons.count == 1 && desk.reasons[0].hasPrefix("beyond the 10 slots"))
  }

  @Test func `a slot looked at within two minutes is on time, and the newest is made up for`()
    throws
  {
    for missed in [Timing.Missed.skip, .latest] {
      var desk = try desk("0 * * * *", missed)
      desk.state("requested", at: 1)
      desk.look(at: 1)
      let first = (60 - Double(Desk.start.epochSeconds / 60 % 60)).truncatingRemainder(
        dividingBy: 60)
      desk.look(at: first + 121 + 0.9)
      desk.look(at: first + 182.1)
      #expect(desk.minutes.suffix(1) == [missed == .skip ? first + 120 : first + 180])
    }
  }

  @Test func `made up for only while it is true`() throws {
    var desk = try desk("*/15 * * * *", .all(atMost: 10), expires: .seconds(3600))
    desk.state("requested", at: 1)
    desk.look(at: 1)
    desk.look(at: 187)
    #expect(desk.minutes == [135, 150, 165, 180])
    #expect(desk.tally.fired == 4 && desk.tally.expired == 6 && desk.tally.capped == 2)
    #expect(desk.tally.remainder == 0)
  }

  @Test func `in the ride's own zone, also where that changes`() throws {
    var desk = try desk("0 8 * * *", zone: nil)
    desk.ride.timeZone = "Asia/Tokyo"
    desk.state("requested", at: 0)
    desk.run(until: 1440)
    desk.ride.timeZone = "America/New_York"
    desk.emit("ride_updated", at: 1441)
    var next = desk.look(at: 1441)
    while let due = next, due < 2880 { next = desk.look(at: due) }
    let hours = desk.slots.map { CivilTime.iso($0).dropFirst(11).prefix(5) }
    #expect(hours == ["23:00", "13:00"])
  }

  @Test func `an unknown zone of the ride is said once`() throws {
    var desk = try desk("0 8 * * *", zone: nil)
    desk.ride.timeZone = "Nowhere/Else"
    desk.state("requested", at: 0)
    desk.look(at: 0)
    desk.look(at: 5)
    #expect(desk.reasons == ["unknown time zone Nowhere/Else"])
  }

  /// R49: a look before its time changes nothing, and none fires twice.
  @Test func `looked at early, late and again, each slot fires once`() throws {
    var desk = try desk("*/10 * * * *")
    var numbers = SeededGenerator(seed: 7)
    desk.state("requested", at: 0.5)
    for slot in stride(from: 10.0, through: 1000, by: 10) {
      for shift in [-0.08, 0.0, 0.08, 0.08] {
        desk.look(at: slot + shift * Double.random(in: 0...1, using: &numbers))
      }
    }
    #expect(desk.slots.count == 100 && Set(desk.slots).count == 100)
  }
}

@Suite struct `Slots` {
  /// Looks at random times, with random changes: every slot has one fate, none fires twice, none
  /// before its time.
  @Test(arguments: 0..<200)
  func `each slot has one fate`(seed: Int) {
    var numbers = SeededGenerator(seed: UInt64(seed))
    let kinds: [Timing.Slots] = [
      .every(.seconds(300)), .relative(to: .pickupAt, by: .seconds(-900)),
      .relative(to: .pickupAt, by: .seconds(600)), Self.cron(.skip), Self.cron(.latest),
      Self.cron(.all(atMost: 3)),
    ]
    var desk = Desk(kinds[seed % kinds.count], while: ["requested", "ride_completed"])
    let states = ["requested", "driver_arrived", "ride_completed"]
    var minute = 0.0
    for _ in 0..<300 {
      minute += Double.random(in: 0...20, using: &numbers)
      switch Int.random(in: 0..<4, using: &numbers) {
      case 0: desk.state(states[Int.random(in: 0..<3, using: &numbers)], at: minute)
      case 1: desk.pickup(minute + Double.random(in: -60...120, using: &numbers), at: minute)
      default: break
      }
      let before = desk.slots.count
      desk.look(at: minute)
      #expect(desk.slots.dropFirst(before).allSatisfy { $0 <= Desk.at(minute) })
    }
    #expect(desk.tally.remainder == 0, "seed \(seed): \(desk.tally)")
    #expect(Set(desk.slots).count == desk.slots.count, "seed \(seed)")
    #expect(desk.tally.fired == desk.slots.count, "seed \(seed)")
  }

  private static func cron(_ missed: Timing.Missed) -> Timing.Slots {
    guard let schedule = try? CronSchedule("*/7 * * * *"), let zone = ZoneTimes(identifier: "UTC")
    else { return .every(.seconds(1)) }
    return .cron(schedule, zone: .named(zone), missed: missed)
  }

  @Test func `a memo of an earlier version is read`() throws {
    let memo = try JSONDecoder().decode(Memo.self, from: Data(#"{"retries":[]}"#.utf8))
    #expect(memo.isEmpty)
  }
}
