import Foundation
import Testing

@testable import Base
@testable import RideCore

@Suite("Cron rules") struct CronRuleTests {
  private func stage(
    _ expression: String, _ missed: Timing.Missed = .skip, zone: String? = "UTC",
    expires: Duration = .seconds(86_400)
  ) throws -> AgendaStage {
    let zone: Timing.Zone =
      if let zone { .named(try #require(ZoneTimes(identifier: zone))) } else { .ride }
    return AgendaStage(
      .cron(try CronSchedule(expression), zone: zone, missed: missed), while: ["requested"],
      expires: expires)
  }

  /// R45: three hours of downtime with four slots an hour; the slots keep their own time.
  @Test(arguments: [
    (Timing.Missed.skip, 0, 0), (.latest, 1, 0), (.all(atMost: 10), 10, 2),
    (.all(atMost: 99), 12, 0),
  ])
  func `after three hours down`(missed: Timing.Missed, fired: Int, capped: Int) throws {
    var stage = try stage("*/15 * * * *", missed)
    stage.state("requested", at: 1)
    stage.claim(at: 1)
    stage.claim(at: 187)
    let slots: [Double] = stride(from: 15, through: 180, by: 15).suffix(fired).map { $0 }
    #expect(stage.minutes == slots)
    #expect(stage.tally.due == 12 && stage.tally.fired == fired && stage.tally.capped == capped)
    #expect(stage.tally.remainder == 0)
    #expect(stage.claim(at: 187) == 195)
  }

  /// R46.
  @Test func `after thirty days down with a slot a minute: the bound, and the rest is counted`()
    throws
  {
    var stage = try stage("* * * * *", .all(atMost: 10))
    stage.state("requested", at: 0)
    stage.claim(at: 0)
    stage.claim(at: 43_200.5)
    // Three are on time, ten are made up for.
    #expect(stage.slots.count == 12 || stage.slots.count == 13)
    #expect(stage.tally.due == 43_200 && stage.tally.remainder == 0)
    #expect(stage.tally.capped == 43_200 - stage.slots.count)
    #expect(stage.reasons.count == 1 && stage.reasons[0].hasPrefix("beyond the 10 slots"))
  }

  @Test func `a slot looked at within two minutes is on time, and the newest is made up for`()
    throws
  {
    for missed in [Timing.Missed.skip, .latest] {
      var stage = try stage("0 * * * *", missed)
      stage.state("requested", at: 1)
      stage.claim(at: 1)
      let first = (60 - Double(AgendaStage.start.epochSeconds / 60 % 60)).truncatingRemainder(
        dividingBy: 60)
      stage.claim(at: first + 121 + 0.9)
      stage.claim(at: first + 182.1)
      #expect(stage.minutes.suffix(1) == [missed == .skip ? first + 120 : first + 180])
    }
  }

  @Test func `if a slot is on time, none before it is made up for`() throws {
    var stage = try stage("* * * * *", .latest)
    stage.state("requested", at: 0.1)
    stage.claim(at: 0.1)
    stage.claim(at: 30.5)
    #expect(stage.minutes == [29, 30])
    #expect(stage.tally.missed == 28 && stage.tally.remainder == 0)
  }

  @Test func `made up for only while it is true`() throws {
    var stage = try stage("*/15 * * * *", .all(atMost: 10), expires: .seconds(3600))
    stage.state("requested", at: 1)
    stage.claim(at: 1)
    stage.claim(at: 187)
    #expect(stage.minutes == [135, 150, 165, 180])
    #expect(stage.tally.fired == 4 && stage.tally.expired == 6 && stage.tally.capped == 2)
    #expect(stage.tally.remainder == 0)
  }

  @Test func `in the ride's own zone, also if the zone changes`() throws {
    var stage = try stage("0 8 * * *", zone: nil)
    stage.ride.timeZone = "Asia/Tokyo"
    stage.state("requested", at: 0)
    stage.run(until: 1440)
    stage.ride.timeZone = "America/New_York"
    stage.emit("ride_updated", at: 1441)
    var next = stage.claim(at: 1441)
    while let due = next, due < 2880 { next = stage.claim(at: due) }
    let hours = stage.slots.map { CivilTime.iso($0).dropFirst(11).prefix(5) }
    #expect(hours == ["23:00", "13:00"])
  }

  @Test func `an unknown time zone of a ride is recorded once`() throws {
    var stage = try stage("0 8 * * *", zone: nil)
    stage.ride.timeZone = "Nowhere/Else"
    stage.state("requested", at: 0)
    stage.claim(at: 0)
    stage.claim(at: 5)
    #expect(stage.reasons == ["unknown time zone Nowhere/Else"])
  }

  /// R49: handling the ride early changes nothing, and no slot fires twice.
  @Test func `looked at early, late and again, each slot fires once`() throws {
    var stage = try stage("*/10 * * * *")
    var numbers = SeededGenerator(seed: 7)
    stage.state("requested", at: 0.5)
    for slot in stride(from: 10.0, through: 1000, by: 10) {
      for shift in [-0.08, 0.0, 0.08, 0.08] {
        stage.claim(at: slot + shift * Double.random(in: 0...1, using: &numbers))
      }
    }
    #expect(stage.slots.count == 100 && Set(stage.slots).count == 100)
  }
}

@Suite("Slots") struct SlotCountTests {
  /// Handles the ride at random times with random changes: every slot has one outcome, none fires
  /// twice, and none fires early.
  @Test(arguments: 0..<120)
  func `each slot has one fate`(seed: Int) {
    var numbers = SeededGenerator(seed: UInt64(seed))
    let kinds: [Timing.Slots] = [
      .every(.seconds(300)), .times([RuleTime(.ride(.pickupAt), by: .seconds(-900))]),
      .times([RuleTime(.ride(.pickupAt), by: .seconds(600))]), Self.cron(.skip), Self.cron(.latest),
      Self.cron(.all(atMost: 3)),
    ]
    var stage = AgendaStage(kinds[seed % kinds.count], while: ["requested", "ride_completed"])
    let states = ["requested", "driver_arrived", "ride_completed"]
    var minute = 0.0
    for _ in 0..<300 {
      minute += Double.random(in: 0...20, using: &numbers)
      switch Int.random(in: 0..<4, using: &numbers) {
      case 0: stage.state(states[Int.random(in: 0..<3, using: &numbers)], at: minute)
      case 1: stage.pickup(minute + Double.random(in: -60...120, using: &numbers), at: minute)
      default: break
      }
      let before = stage.slots.count
      stage.claim(at: minute)
      #expect(stage.slots.dropFirst(before).allSatisfy { $0 <= AgendaStage.at(minute) })
    }
    #expect(stage.tally.remainder == 0, "seed \(seed): \(stage.tally)")
    #expect(Set(stage.slots).count == stage.slots.count, "seed \(seed)")
    #expect(stage.tally.fired == stage.slots.count, "seed \(seed)")
  }

  private static func cron(_ missed: Timing.Missed) -> Timing.Slots {
    guard let schedule = try? CronSchedule("*/7 * * * *"), let zone = ZoneTimes(identifier: "UTC")
    else { return .every(.seconds(1)) }
    return .cron(schedule, zone: .named(zone), missed: missed)
  }

  @Test func `a memo reads back as it was written`() throws {
    var memo = Memo()
    let now = Timestamp(microseconds: 1_795_248_300_000_001)
    memo.slots["a"] = SlotMemo(anchor: nil, through: now, planned: nil, fired: now)
    memo.slots["b"] = SlotMemo(anchor: now, through: now - .seconds(5), planned: now, fired: nil)
    let json = memo.storedText
    #expect(try Memo(storedText: json) == memo)
  }

  @Test(arguments: ["", "1 2 3 4", "- - - - - -", "1 x - - - -", "1 2 - - 5"])
  func `a memo that can't be read is an error and no trap`(slot: String) {
    let json = #"{"slots":{"a":"\#(slot)"}}"#
    #expect(throws: StoredFault.self) { try Memo(storedText: json) }
  }

  @Test func `a memo without parts is empty`() throws {
    #expect(try Memo(storedText: "{}").isEmpty)
  }
}
