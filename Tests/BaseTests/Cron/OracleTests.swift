import Foundation
import Testing

@testable import Base

/// Slots as decision 9 defines them, found by testing each minute of a few days.
@Suite("Cron minute by minute") struct OracleTests {
  private struct Rule {
    let schedule: CronSchedule
    let followsWall: Bool
    /// Returns whether a wall minute matches: minute, hour, day of the week.
    let means: @Sendable (Int64, Int64, Int64) -> Bool

    init(
      _ text: String, followsWall: Bool, means: @escaping @Sendable (Int64, Int64, Int64) -> Bool
    ) throws {
      schedule = try CronSchedule(text)
      self.followsWall = followsWall
      self.means = means
    }

    func means(_ wall: Int64) -> Bool {
      means(wall / 60 % 60, wall / 3_600 % 24, (wall / 86_400 + 4) % 7)
    }
  }

  /// Returns the slots of one rule after `from` and before `to`, both whole minutes.
  private func slots(
    _ rule: Rule, from: Int64, to: Int64, _ offset: (Int64) -> Int64
  ) -> [Int64] {
    var slots: [Int64] = []
    // The longest gap is a day: wall times shown before that cannot occur again.
    let before = from - 2 * 86_400
    var shown: Set<Int64> = []
    var last = before + offset(before)
    for instant in stride(from: before + 60, to: to, by: 60) {
      let wall = instant + offset(instant)
      var fires = rule.means(wall)
      if !rule.followsWall {
        fires = fires && !shown.contains(wall)
        let gap = stride(from: last + 60, to: wall, by: 60)
        fires = fires || gap.contains { !shown.contains($0) && rule.means($0) }
        shown.insert(wall)
        shown.formUnion(gap)
      }
      if fires, instant > from { slots.append(instant) }
      last = wall
    }
    return slots
  }

  @Test func `around changes of the clocks the slots match the documented ones`() throws {
    let rules = try [
      Rule("*/17 * * * *", followsWall: true) { minute, _, _ in minute % 17 == 0 },
      Rule("0 */3 * * *", followsWall: true) { minute, hour, _ in minute == 0 && hour % 3 == 0 },
      Rule("10 *,2 * * *", followsWall: true) { minute, _, _ in minute == 10 },
      Rule("30 2 * * *", followsWall: false) { minute, hour, _ in minute == 30 && hour == 2 },
      Rule("*/20 0-23 * * *", followsWall: false) { minute, _, _ in minute % 20 == 0 },
      Rule("0,45 0-3 * * *", followsWall: false) { minute, hour, _ in
        [0, 45].contains(minute) && hour < 4
      },
      Rule("5 1 * * SUN", followsWall: false) { minute, hour, day in
        minute == 5 && hour == 1 && day == 0
      },
    ]
    var number = 0
    var looked = 0
    for name in TimeZone.knownTimeZoneIdentifiers {
      let zone = try #require(ZoneTimes(identifier: name))
      let changes = zone.changes(
        after: Timestamp(epochSeconds: 946_684_800), through: Timestamp(epochSeconds: 2_145_916_800)
      )
      for change in changes {
        number += 1
        let isOdd = change.to - change.from != 3_600 && change.to - change.from != -3_600
        guard
          number.isMultiple(of: 97) || (isOdd && number.isMultiple(of: 7)) || name.hasSuffix("Apia")
        else { continue }
        looked += 1
        let (from, to) = (change.at.epochSeconds - 100_020, change.at.epochSeconds + 100_020)
        for rule in rules {
          var ours: [Int64] = []
          var instant = Timestamp(epochSeconds: from)
          while let next = rule.schedule.next(after: instant, in: zone), next.epochSeconds < to {
            ours.append(next.epochSeconds)
            instant = next
          }
          let theirs = slots(rule, from: from, to: to) {
            zone.offset(at: Timestamp(epochSeconds: $0))
          }
          #expect(ours == theirs, "\(rule.schedule) \(name) \(change.at.epochSeconds)")
        }
      }
    }
    print("cron: \(looked) changes of clocks looked at minute by minute")
    #expect(looked > 100)
  }
}
