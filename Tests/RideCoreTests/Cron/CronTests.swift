import Foundation
import Testing

@testable import RideCore

@Suite struct `Cron expressions` {
  /// What is wrong, where, and what the message says.
  static let wrong: [(String, Int, String)] = [
    ("", 0, "0 fields; expected 5: minute, hour, day of the month, month, day of the week"),
    ("0 8 * *", 0, "4 fields; expected 5: minute, hour, day of the month, month, day of the week"),
    (
      "0 0 8 * * 1", 10,
      "6 fields; expected 5: minute, hour, day of the month, month, day of the week"
    ),
    ("@daily", 0, "\"@daily\"; expected five fields, such as 0 8 * * MON-FRI"),
    ("0 8 * * 5-0", 8, "the backward range \"5-0\"; expected two ranges: 5-7,0-0"),
    (
      "0 8 * * 1,\u{17f}un", 10,
      "\"\u{17f}un\"; expected a day of the week from 0 to 7, or SUN to SAT"
    ),
    ("0 8 15W * *", 4, "\"15W\"; expected a day of the month from 1 to 31"),
    ("e\u{301} 8 * * *", 0, "\"e\u{301}\"; expected a minute from 0 to 59"),
    ("1 e\u{301},2 * * *", 2, "\"e\u{301}\"; expected an hour from 0 to 23"),
    ("e\u{301} 8 32 * *", 0, "\"e\u{301}\"; expected a minute from 0 to 59"),
    ("60 * * * *", 0, "\"60\"; expected a minute from 0 to 59"),
    ("0 24 * * *", 2, "\"24\"; expected an hour from 0 to 23"),
    ("0 8 0 * *", 4, "\"0\"; expected a day of the month from 1 to 31"),
    ("0 8 * 13 *", 6, "\"13\"; expected a month from 1 to 12, or JAN to DEC"),
    ("0 8 * * 8", 8, "\"8\"; expected a day of the week from 0 to 7, or SUN to SAT"),
    ("0 8 * * MONDAY", 8, "\"MONDAY\"; expected a day of the week from 0 to 7, or SUN to SAT"),
    ("0 8 L * *", 4, "\"L\"; expected a day of the month from 1 to 31"),
    ("0 8 * * 1#2", 8, "\"1#2\"; expected a day of the week from 0 to 7, or SUN to SAT"),
    ("0 8 ? * *", 4, "\"?\"; expected a day of the month from 1 to 31"),
    ("*/0 * * * *", 2, "\"0\"; expected a step from 1 to 60"),
    ("*/61 * * * *", 2, "\"61\"; expected a step from 1 to 60"),
    ("*/ * * * *", 2, "\"\"; expected a step from 1 to 60"),
    ("1,,2 * * * *", 2, "nothing as a minute; expected a minute from 0 to 59"),
    ("1- * * * *", 2, "nothing as a minute; expected a minute from 0 to 59"),
    ("-1 * * * *", 0, "nothing as a minute; expected a minute from 0 to 59"),
    ("0 22-6 * * *", 2, "the backward range \"22-6\"; expected two ranges: 22-23,0-6"),
    ("0 8 * * +1", 8, "\"+1\"; expected a day of the week from 0 to 7, or SUN to SAT"),
    ("٣ * * * *", 0, "\"٣\"; expected a minute from 0 to 59"),
    (
      "0 8 30 2 *", 4,
      "days that do not come within eight years; expected a day of the month that its months have"
    ),
    (
      "0 8 31 4,6,9,11 *", 4,
      "days that do not come within eight years; expected a day of the month that its months have"
    ),
    (
      "0 8 29 2 */5", 4,
      "days that do not come within eight years; expected a day of the month that its months have"
    ),
  ]

  @Test(arguments: wrong.indices)
  func `a wrong one is refused with its place`(index: Int) {
    let (text, offset, message) = Self.wrong[index]
    do {
      _ = try CronSchedule(text)
      Issue.record("\(text) was taken")
    } catch {
      #expect(error.offset == offset)
      #expect("\(error.found); expected \(error.expected)" == message)
    }
  }

  /// The first of February on one day of the week lies up to 12 years from the next.
  @Test(arguments: Array(0...6).map { "0 0 */31 2 \($0)" } + ["0 0 29 2 */5,1,3,6"])
  func `what may wait more than eight years is refused, whatever the year`(text: String) {
    #expect {
      try CronSchedule(text)
    } throws: {
      ($0 as? CronError)?.found == "days that do not come within eight years"
    }
  }

  @Test(arguments: [
    ("0 8 * * SUN-SUN", "0 8 * * 7"), ("0 8 * * FRI-SUN", "0 8 * * 0,5,6"),
    ("0 8 * * 5-7", "0 8 * * SUN,fri,Sat"), ("5/15 * * jan-MAR *", "5,20,35,50 * * 1-3 *"),
    ("1-30/7 */9 * * 6/1", "1,8,15,22,29 0,9,18 * * SAT-SUN"), ("0 8 * * 0-7", "0 8 * * SUN-SAT"),
  ])
  func `names, steps and Sundays mean numbers`(text: String, numbers: String) throws {
    let left = try CronSchedule(text).fields
    let right = try CronSchedule(numbers).fields
    #expect(
      [left.minutes, left.hours, left.daysOfMonth, left.months, left.daysOfWeek]
        == [right.minutes, right.hours, right.daysOfMonth, right.months, right.daysOfWeek])
  }

  @Test(arguments: [
    "0 8 29 2 *", "0 8 29 2 *,1", "0 0 31 * MON", "0 8 * * SUN-SUN", "0 8 * * sat-SUN",
    "0 0 30 2 MON", " 0  8 *\t* mon-Fri ", "5/15 * * * FRI-SUN",
    "0 0 1 1 7", "59 23 31 12 5-7", "*/60 * * * *",
  ])
  func `a right one is taken`(text: String) throws {
    _ = try CronSchedule(text)
  }
}

@Suite struct `Cron slots` {
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
    // Both restricted: either.
    (
      "0 0 13 * FRI", "UTC", "2026-11-06T00:00:00Z",
      ["2026-11-13T00:00:00Z", "2026-11-20T00:00:00Z"]
    ),
    (
      "0 0 13 * FRI", "UTC", "2026-12-04T00:00:00Z",
      ["2026-12-11T00:00:00Z", "2026-12-13T00:00:00Z"]
    ),
    // One begins with *: both.
    (
      "0 0 */2 * FRI", "UTC", "2026-11-06T00:00:00Z",
      ["2026-11-13T00:00:00Z", "2026-11-27T00:00:00Z"]
    ),
    (
      "0 0 29 2 *", "UTC", "2026-11-06T00:00:00Z", ["2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"]
    ),
    // Berlin, 2026-03-29: 02:00 to 03:00 is not there. Once, at the first instant after.
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
    // Berlin, 2026-10-25: 02:00 to 03:00 is there twice. A fixed time comes at its first.
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
    // Lord Howe moves by half an hour.
    (
      "15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z",
      ["2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"]
    ),
    (
      "45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z",
      ["2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"]
    ),
    // Apia left out 30 December 2011: once, as the 31st begins.
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
    var slots: [Instant] = []
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
      var seconds = zone.changes(after: Instant(epochSeconds: 946_684_800), through: .end)
        .flatMap { [$0.at.epochSeconds - 1, $0.at.epochSeconds] }
      seconds += (0..<40).map { _ in Int64.random(in: 946_684_800..<2_145_916_800, using: &numbers)
      }
      for second in seconds {
        let offset = foundation.secondsFromGMT(for: Date(timeIntervalSince1970: Double(second)))
        #expect(
          zone.offset(at: Instant(epochSeconds: second)) == Int64(offset), "\(name) \(second)")
      }
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
      for change in zone.changes(after: Instant(epochSeconds: 946_684_800), through: .end) {
        changes += 1
        let start = change.at - .seconds(10 * 3600 + changes % 3600)
        let end = change.at + .seconds(30 * 3600)
        for schedule in schedules {
          var slots: [Instant] = []
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
    let start = Instant(microseconds: .random(in: 0..<2_100_000_000_000_000, using: &numbers))
    var slots: [Instant] = []
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
    for edge in [Instant(microseconds: .min), Instant(microseconds: .max)] {
      _ = schedule.next(after: edge, in: zone)
      _ = schedule.last(2, after: edge, through: edge, in: zone)
      _ = schedule.count(after: edge, through: edge, in: zone)
      #expect(schedule.next(after: edge, in: zone).map { $0 > edge } ?? true)
    }
    let all = (Instant(microseconds: .min), Instant(microseconds: .max))
    #expect(schedule.last(2, after: all.0, through: all.1, in: zone).count == 2)
    // 2^64 microseconds hold this many minutes.
    #expect(
      try schedule.count(after: all.0, through: all.1, in: self.zone("UTC")) == 307_445_734_561)
    let day = Instant(epochSeconds: 1_800_000_000)
    #expect(schedule.count(after: day, through: day + .seconds(30 * 86_400), in: zone) == 43_200)
  }
}

extension Instant {
  fileprivate static let end = Instant(epochSeconds: 2_145_916_800)
}
