import Foundation
import Testing
import TestSupport

@testable import Base
@testable import RideCore
@testable import Timeline

@Suite("R83: quiet hours") struct QuietHoursTests {
  private static func hours(_ from: String, _ to: String) throws -> QuietHours {
    let from = try #require(QuietHours.TimeOfDay(text: from))
    let to = try #require(QuietHours.TimeOfDay(text: to))
    return QuietHours(from: from, to: to, zone: .ride, then: .hold)
  }

  private static let table: [(zone: String, from: String, to: String, at: String, end: String?)] = [
    // Over midnight: both ends, and the times next to them.
    ("UTC", "22:00", "07:00", "2026-11-22T21:59:59Z", nil),
    ("UTC", "22:00", "07:00", "2026-11-22T22:00:00Z", "2026-11-23T07:00:00Z"),
    ("UTC", "22:00", "07:00", "2026-11-22T23:59:59Z", "2026-11-23T07:00:00Z"),
    ("UTC", "22:00", "07:00", "2026-11-23T00:00:00Z", "2026-11-23T07:00:00Z"),
    ("UTC", "22:00", "07:00", "2026-11-23T06:59:59Z", "2026-11-23T07:00:00Z"),
    ("UTC", "22:00", "07:00", "2026-11-23T07:00:00Z", nil),
    // Within one day.
    ("UTC", "12:00", "14:30", "2026-11-22T11:59:00Z", nil),
    ("UTC", "12:00", "14:30", "2026-11-22T13:00:00Z", "2026-11-22T14:30:00Z"),
    ("UTC", "12:00", "14:30", "2026-11-22T14:30:00Z", nil),
    ("UTC", "00:00", "06:00", "2026-11-22T00:00:00Z", "2026-11-22T06:00:00Z"),
    ("UTC", "18:00", "00:00", "2026-11-22T23:59:00Z", "2026-11-23T00:00:00Z"),
    // Before 1970.
    ("UTC", "22:00", "07:00", "1969-12-31T23:00:00Z", "1970-01-01T07:00:00Z"),
    // Zones.
    ("Europe/Berlin", "22:00", "07:00", "2026-11-22T20:59:59Z", nil),
    ("Europe/Berlin", "22:00", "07:00", "2026-11-22T21:00:00Z", "2026-11-23T06:00:00Z"),
    ("Asia/Kathmandu", "22:00", "07:00", "2026-11-22T16:15:00Z", "2026-11-23T01:15:00Z"),
    ("America/New_York", "22:00", "07:00", "2026-11-23T11:59:00Z", "2026-11-23T12:00:00Z"),
    // Spring: the night is an hour shorter.
    ("Europe/Berlin", "22:00", "07:00", "2026-03-28T22:00:00Z", "2026-03-29T05:00:00Z"),
    // Spring: the clock skips 02:30, which ends the hours at 03:00.
    ("Europe/Berlin", "22:00", "02:30", "2026-03-28T22:00:00Z", "2026-03-29T01:00:00Z"),
    ("Europe/Berlin", "22:00", "02:30", "2026-03-29T01:00:00Z", nil),
    // Spring: the clock skips the whole hours.
    ("Europe/Berlin", "02:10", "02:50", "2026-03-29T00:59:59Z", nil),
    ("Europe/Berlin", "02:10", "02:50", "2026-03-29T01:00:00Z", nil),
    // Autumn: the night is an hour longer.
    ("Europe/Berlin", "22:00", "07:00", "2026-10-24T21:00:00Z", "2026-10-25T06:00:00Z"),
    // Autumn: the clock shows 02:30 twice; the first one ends the hours, and they are shown again.
    ("Europe/Berlin", "22:00", "02:30", "2026-10-24T21:00:00Z", "2026-10-25T00:30:00Z"),
    ("Europe/Berlin", "22:00", "02:30", "2026-10-25T00:45:00Z", nil),
    ("Europe/Berlin", "22:00", "02:30", "2026-10-25T01:00:00Z", "2026-10-25T01:30:00Z"),
    // Autumn: it shows 02:00 in the place of the first 03:00.
    ("Europe/Berlin", "22:00", "03:00", "2026-10-24T21:00:00Z", "2026-10-25T02:00:00Z"),
    // Half an hour back, on Lord Howe.
    ("Australia/Lord_Howe", "22:00", "01:45", "2026-04-04T14:50:00Z", nil),
    // A whole day left out, on Samoa.
    ("Pacific/Apia", "22:00", "07:00", "2011-12-30T09:00:00Z", "2011-12-30T17:00:00Z"),
  ]

  @Test(arguments: table.indices)
  func `end when the wall clock shows it`(index: Int) throws {
    let row = Self.table[index]
    let zone = try #require(ZoneTimes(identifier: row.zone))
    let at = try #require(CivilTime.instant(iso: row.at))
    let end = try Self.hours(row.from, row.to).end(at: at, in: zone)
    #expect(end.map(CivilTime.iso) == row.end)
  }

  /// Compares with a scan, minute by minute, of what Foundation's calendar shows.
  @Test(arguments: [TestSeed.value(1)])
  func `end as a calendar shows it, for random hours and zones`(seed: UInt64) throws {
    var numbers = SeededGenerator(seed: seed)
    let zones = [
      "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu",
      "America/St_Johns", "Africa/Casablanca",
    ]
    var quiet = 0
    for _ in 0..<300 {
      let name = try #require(zones.randomElement(using: &numbers))
      let zone = try #require(ZoneTimes(identifier: name))
      let (from, to) = (
        Int.random(in: 0..<1440, using: &numbers), Int.random(in: 0..<1440, using: &numbers)
      )
      if from == to { continue }
      let hours = try Self.hours(Self.text(from), Self.text(to))
      let year = Timestamp(epochSeconds: 1_767_225_600)
      // Half of them on a day when clocks change.
      let change = zone.changes(after: year, through: year + .seconds(31_536_000))
        .randomElement(using: &numbers)
      let near = Timestamp(epochSeconds: (change?.at.epochSeconds ?? 1_790_000_040))
      let at =
        (Bool.random(using: &numbers) ? near - .seconds(50_040) : year)
        + .seconds(60 * Int64.random(in: 0..<1500, using: &numbers))
      let expected = try Self.scan(at, from, to, name)
      if expected != nil { quiet += 1 }
      #expect(hours.end(at: at, in: zone) == expected, "\(name) \(from) \(to) \(at) seed \(seed)")
    }
    #expect(quiet > 50)
  }

  private static func text(_ minutes: Int) -> String {
    String(format: "%02d:%02d", minutes / 60, minutes % 60)
  }

  private static func scan(
    _ start: Timestamp, _ from: Int, _ to: Int, _ zone: String
  ) throws -> Timestamp? {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(identifier: zone))
    func isQuiet(_ instant: Timestamp) -> Bool {
      let time = calendar.dateComponents([.hour, .minute], from: instant.date)
      let minute = (time.hour ?? 0) * 60 + (time.minute ?? 0)
      return from < to ? (from..<to).contains(minute) : minute >= from || minute < to
    }
    guard isQuiet(start) else { return nil }
    return (1..<3000).lazy.map { start + .seconds(60 * $0) }.first { !isQuiet($0) }
  }

  @Test(arguments: ["7:00", "24:00", "12:60", "", "12.00", "1200", "ab:cd", "12:000", "１2:00"])
  func `are from and to times of day`(text: String) {
    #expect(QuietHours.TimeOfDay(text: text) == nil)
  }

  // MARK: Decisions

  /// 01:30 in UTC; the sample's present is 2027-01-15T08:00:00Z.
  private static let night = Sample.now - .seconds(6 * 3600 + 1800)

  private func book(
    _ action: QuietHours.Action, expires: Duration = .seconds(12 * 3600), collapse: String? = nil,
    others: [Rule] = []
  ) throws -> EngineConfiguration {
    var rule = Sample.rule(expires: .after(expires), collapse: collapse)
    rule.limits.quiet = try Self.hours("22:00", "07:00")
    rule.limits.quiet?.action = action
    return Sample.book([rule] + others)
  }

  private func view(at now: Timestamp, _ events: [RideEvent]? = nil) -> RideView {
    let event = RideEvent(id: 1, name: "driver_arrived", at: now)
    return Sample.view(events: events ?? [event], phones: [Sample.phone()])
  }

  @Test func `hold a push until they end, and send it as the ride is then`() throws {
    let book = try book(.hold)
    var view = view(at: Self.night)
    let first = decide(view, by: book, now: Self.night)
    #expect(first.pushes.isEmpty && first.ended.isEmpty)
    let settlement = first.settled([], now: Self.night) { 0 }
    let end = Sample.now - .seconds(3600)
    #expect(settlement.nextDue == end && !settlement.isOver)
    let row = try #require(settlement.entries.first)
    #expect(row.status == .pending && row.reason?.code == .engine(.quietHours))
    #expect(row.reason?.text == "quiet hours 22:00 to 07:00 UTC, held until 2027-01-15T07:00:00Z")
    view.apply(settlement)
    view.ride?.attributes = #"{"plate": "B-RP 2"}"#
    #expect(decide(view, by: book, now: end - .seconds(1)).pushes.isEmpty)
    let push = try #require(decide(view, by: book, now: end).pushes.first)
    #expect(push.entry.id == row.id)
    #expect(String(decoding: push.payload, as: UTF8.self).contains("B-RP 2"))
    #expect(push.validUntil == Self.night + .seconds(12 * 3600))
  }

  @Test func `drop a push`() throws {
    let decision = decide(view(at: Self.night), by: try book(.drop), now: Self.night)
    #expect(decision.pushes.isEmpty && decision.deferred.isEmpty)
    #expect(decision.reasons == ["suppressed: quiet hours 22:00 to 07:00 UTC"])
  }

  @Test(arguments: [(19_799, false), (19_800, false), (19_801, true)])
  func `hold nothing beyond its validity`(expires: Int64, isHeld: Bool) throws {
    let book = try book(.hold, expires: .seconds(expires))
    let decision = decide(view(at: Self.night), by: book, now: Self.night)
    #expect(decision.deferred.count == (isHeld ? 1 : 0))
    #expect(decision.pushes.isEmpty)
    let codes = decision.ended.map(\.reason?.code)
    #expect(codes == (isHeld ? [] : [.engine(.quietHours)]))
    #expect(decision.ended.allSatisfy { $0.status == .suppressed })
  }

  @Test func `check the states again when they end`() throws {
    var book = try book(.hold)
    var rule = try #require(book.rules.rules.first)
    rule.when = .on(["driver_arrived"], while: ["driver_arrived"])
    book = Sample.book([rule])
    var view = view(at: Self.night)
    view.apply(decide(view, by: book, now: Self.night).settled([], now: Self.night) { 0 })
    view.ride?.state = "requested"
    let decision = decide(view, by: book, now: Sample.now - .seconds(3600))
    #expect(decision.ended.map(\.reason?.code) == [.engine(.leftStates)])
  }

  @Test func `a held push neither delays nor overtakes others of its phone`() throws {
    let urgent = Sample.rule("urgent", on: ["eta_changed"], expires: .after(.seconds(3600)))
    let book = try book(.hold, others: [urgent])
    var view = view(at: Self.night)
    view.apply(decide(view, by: book, now: Self.night).settled([], now: Self.night) { 0 })
    let later = Self.night + .seconds(60)
    view.events = [RideEvent(id: 2, name: "eta_changed", at: later)]
    let second = decide(view, by: book, now: later)
    #expect(second.pushes.map(\.entry.rule) == ["urgent"])
    // A retry of the newer push does not wait for the held one either.
    view.apply(second.settled([.refused(Refusal(status: 503))], now: later) { 0 })
    #expect(view.memo.waiting.count == 2)
    let retry = decide(view, by: book, now: later + .seconds(5))
    #expect(retry.pushes.map(\.entry.rule) == ["urgent"])
    #expect(retry.kept.map(\.entry.rule) == ["arrived"])
    #expect(retry.kept.first?.due == Sample.now - .seconds(3600))
  }

  @Test func `a newer push with the collapse ID supersedes a held one`() throws {
    let urgent = Sample.rule(
      "urgent", on: ["eta_changed"], expires: .after(.seconds(3600)), collapse: "one")
    let book = try book(.hold, collapse: "one", others: [urgent])
    let events = [
      RideEvent(id: 1, name: "driver_arrived", at: Self.night),
      RideEvent(id: 2, name: "eta_changed", at: Self.night),
    ]
    let decision = decide(view(at: Self.night, events), by: book, now: Self.night)
    #expect(decision.pushes.map(\.entry.rule) == ["urgent"])
    #expect(decision.reasons == ["superseded: superseded by eta_changed"])
    #expect(decision.deferred.isEmpty)
  }

  @Test func `a ride with an unknown zone counts as one in UTC`() throws {
    var view = view(at: Self.night)
    view.ride?.timeZone = "Europe/Berln"
    let decision = decide(view, by: try book(.drop), now: Self.night)
    #expect(
      decision.reasons == [
        "suppressed: quiet hours 22:00 to 07:00 UTC, because the ride's zone \"Europe/Berln\" is "
          + "unknown"
      ])
  }

  /// `defaults.quiet` is for alerts that can wait.
  @Test func `of defaults are for alerts that can wait`() throws {
    let hours = try Self.hours("22:00", "07:00")
    let defaults = RuleDefaults(quiet: hours)
    func alert(_ level: Alert.InterruptionLevel?) -> Rule.What {
      var alert = Alert()
      alert.title = LocalizedText(TextTemplate(literal: "x"))
      alert.interruptionLevel = level
      return .alert(alert)
    }
    for level in [nil, .active, .passive] as [Alert.InterruptionLevel?] {
      #expect(defaults.quiet(for: alert(level), topic: "t") == hours)
      #expect(defaults.quiet(for: alert(level), topic: nil) == nil)
    }
    for what in [
      alert(.timeSensitive), alert(.critical), .background, .toExtension(.widgets),
      .liveActivity(LiveActivity(attributesType: "T")),
    ] {
      #expect(defaults.quiet(for: what, topic: "t") == nil)
    }
  }
}
