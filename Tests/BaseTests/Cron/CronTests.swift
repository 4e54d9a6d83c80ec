import Foundation
import Testing

@testable import Base

@Suite("Cron slots") struct CronTests {
  private func zone(_ name: String) throws -> ZoneTimes {
    try #require(ZoneTimes(identifier: name))
  }

  /// Expression, zone, start, and the slots that follow, in UTC.
  static let tables: [(String, String, String, [String])] = [
    (
      "0 8 * * MON-FRI", "UTC", "2026-11-20T08:00:00Z",
      ["2026-11-23T08:00:00Z", "2026-11-24T08:00:00Z"]
    ),
    (
      "*/20 * * * *", "Asia/Kathmandu", "2026-11-20T00:00:00Z",
      ["2026-11-20T00:15:00Z", "2026-11-20T00:35:00Z"]
    ),
    // Both fields are restricted: either matches.
    (
      "0 0 13 * FRI", "UTC", "2026-11-06T00:00:00Z",
      ["2026-11-13T00:00:00Z", "2026-11-20T00:00:00Z"]
    ),
    (
      "0 0 13 * FRI", "UTC", "2026-12-04T00:00:00Z",
      ["2026-12-11T00:00:00Z", "2026-12-13T00:00:00Z"]
    ),
    // One field begins with *: both must match.
    (
      "0 0 */2 * FRI", "UTC", "2026-11-06T00:00:00Z",
      ["2026-11-13T00:00:00Z", "2026-11-27T00:00:00Z"]
    ),
    (
      "0 0 29 2 *", "UTC", "2026-11-06T00:00:00Z", ["2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"]
    ),
    // Berlin, 2026-03-29: 02:00 to 03:00 does not exist. The slot fires once, at the first instant
    // after.
    (
      "30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z",
      ["2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"]
    ),
    (
      "0,30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z",
      ["2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z"]
    ),
    (
      "0 2,3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z",
      ["2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z"]
    ),
    (
      "30 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z",
      ["2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z"]
    ),
    // Berlin, 2026-10-25: 02:00 to 03:00 occurs twice. A fixed time fires at its first occurrence.
    (
      "30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z",
      ["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"]
    ),
    (
      "*/30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z",
      ["2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z", "2026-10-26T01:00:00Z"]
    ),
    (
      "30 * * * *", "Europe/Berlin", "2026-10-25T00:00:00Z",
      ["2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-25T02:30:00Z"]
    ),
    // New York goes back at 06:00 UTC.
    (
      "59 1 * * *", "America/New_York", "2026-11-01T00:00:00Z",
      ["2026-11-01T05:59:00Z", "2026-11-02T06:59:00Z"]
    ),
    // Lord Howe changes by half an hour.
    (
      "15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z",
      ["2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"]
    ),
    (
      "45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z",
      ["2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"]
    ),
    // Apia skipped 30 December 2011: the slot fires once, as the 31st begins.
    (
      "0 8 30 12 *", "Pacific/Apia", "2011-12-01T00:00:00Z",
      ["2011-12-30T10:00:00Z", "2012-12-29T18:00:00Z"]
    ),
    (
      "0 8 * * *", "Pacific/Apia", "2011-12-29T12:00:00Z",
      ["2011-12-29T18:00:00Z", "2011-12-30T10:00:00Z", "2011-12-30T18:00:00Z"]
    ),
  ]

  @Test(arguments: tables.indices)
  func `what follows`(index: Int) throws {
    let (text, name, start, expected) = Self.tables[index]
    let schedule = try CronSchedule(text)
    let zone = try zone(name)
    var instant = try #require(CivilTime.instant(iso: start))
    let first = instant
    var slots: [Timestamp] = []
    for _ in expected {
      instant = try #require(schedule.next(after: instant, in: zone))
      slots.append(instant)
    }
    #expect(slots.map(CivilTime.iso) == expected)
    #expect(schedule.count(after: first, through: instant, in: zone) == expected.count)
    #expect(schedule.last(99, after: first, through: instant, in: zone) == slots)
  }

  @Test func `every zone has Foundation's offsets`() throws {
    var numbers = SeededGenerator(seed: 1)
    for name in TimeZone.knownTimeZoneIdentifiers {
      let zone = try zone(name)
      let foundation = try #require(TimeZone(identifier: name))
      var seconds = zone.changes(after: Timestamp(epochSeconds: 946_684_800), through: .end)
        .flatMap { [$0.at.epochSeconds - 1, $0.at.epochSeconds] }
      // The table does not list changes that it lacks, so sample offsets every nine days: the
      // shortest summer time is a month.
      seconds += stride(
        from: Int64.random(in: 946_684_800..<947_462_400, using: &numbers), to: 2_145_916_800,
        by: 9 * 86_400)
      let wrong = seconds.filter {
        zone.offset(at: Timestamp(epochSeconds: $0))
          != Int64(foundation.secondsFromGMT(for: Date(timeIntervalSince1970: Double($0))))
      }
      #expect(wrong.isEmpty, "\(name)")
    }
  }

  /// R47.
  @Test
  func `every zone, every change of its clocks: slots rise, and three ways to find them agree`()
    throws
  {
    let schedules = try [
      "*/17 * * * *", "30 2 * * *", "15,45 0-3 * * *", "0 */3 * * *", "5 1 * * SUN",
    ]
    .map { try CronSchedule($0) }
    var changes = 0
    for name in TimeZone.knownTimeZoneIdentifiers {
      let zone = try zone(name)
      for change in zone.changes(after: Timestamp(epochSeconds: 946_684_800), through: .end) {
        changes += 1
        let start = change.at - .seconds(10 * 3600 + changes % 3600)
        let end = change.at + .seconds(30 * 3600)
        for schedule in schedules {
          var slots: [Timestamp] = []
          var instant = start
          while let next = schedule.next(after: instant, in: zone), next <= end {
            #expect(next > instant)
            slots.append(next)
            instant = next
          }
          #expect(
            schedule.last(1_000, after: start, through: end, in: zone) == slots,
            "\(name) \(schedule)")
          #expect(
            schedule.count(after: start, through: end, in: zone) == slots.count,
            "\(name) \(schedule)")
        }
      }
    }
    print("cron: \(changes) changes of clocks")
    #expect(changes > 10_000)
  }

  @Test(arguments: 0..<50)
  func `any expression, any zone, any time: the three ways agree`(seed: Int) throws {
    var numbers = SeededGenerator(seed: UInt64(seed))
    func pick(_ words: [String]) -> String { words.randomElement(using: &numbers) ?? "*" }
    let text = [
      pick(["*", "*/7", "0", "13,59", "5/20"]), pick(["*", "*/5", "2", "0-3", "22,23,0"]),
      pick(["*", "*/3", "31", "1-7"]), pick(["*", "2", "JAN-MAR", "*/5"]),
      pick(["*", "SUN", "1-5", "*/2"]),
    ].joined(separator: " ")
    guard let schedule = try? CronSchedule(text) else { return }
    let zone = try zone(pick(TimeZone.knownTimeZoneIdentifiers))
    let start = Timestamp(microseconds: .random(in: 0..<2_100_000_000_000_000, using: &numbers))
    var slots: [Timestamp] = []
    var instant = start
    while slots.count < 300, let next = schedule.next(after: instant, in: zone) {
      slots.append(next)
      instant = next
    }
    #expect(slots.count == 300)
    #expect(
      schedule.count(after: start, through: instant, in: zone) == 300, "\(text) \(zone.identifier)")
    #expect(schedule.last(7, after: start, through: instant, in: zone) == slots.suffix(7))
  }

  @Test func `times out of all range do no harm`() throws {
    let schedule = try CronSchedule("* * * * *")
    let zone = try zone("Europe/Berlin")
    for edge in [Timestamp(microseconds: .min), Timestamp(microseconds: .max)] {
      _ = schedule.next(after: edge, in: zone)
      _ = schedule.last(2, after: edge, through: edge, in: zone)
      _ = schedule.count(after: edge, through: edge, in: zone)
      #expect(schedule.next(after: edge, in: zone).map { $0 > edge } ?? true)
    }
    let all = (Timestamp(microseconds: .min), Timestamp(microseconds: .max))
    #expect(schedule.last(2, after: all.0, through: all.1, in: zone).count == 2)
    // 2^64 microseconds contain this many minutes.
    #expect(
      try schedule.count(after: all.0, through: all.1, in: self.zone("UTC")) == 307_445_734_561)
    let day = Timestamp(epochSeconds: 1_800_000_000)
    #expect(schedule.count(after: day, through: day + .seconds(30 * 86_400), in: zone) == 43_200)
  }
}

extension Timestamp {
  fileprivate static let end = Timestamp(epochSeconds: 2_145_916_800)
}
