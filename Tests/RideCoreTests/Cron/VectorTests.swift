import Foundation
import Testing

@testable import RideCore

/// What another implementation of cron says, made by Vectors/generate.py.
@Suite struct `Cron beside cronsim` {
  private struct Vector {
    var expression: String
    var zone: String
    var start: Int64
    var slots: [Int64]

    init?(_ line: Substring) {
      let cells = line.split(separator: "\t").map(String.init)
      guard cells.count == 4, let start = Int64(cells[2]) else { return nil }
      (expression, zone, self.start) = (cells[0], cells[1], start)
      slots = cells[3].split(separator: " ").compactMap { Int64($0) }
    }

    /// Why the two differ on purpose; nil where they must agree.
    ///
    /// All but the first are about a change of the clocks, and only slots within a day of it may
    /// differ.
    func difference(_ ours: [Int64], _ zone: ZoneTimes) -> Difference? {
      if let first = slots.first, first <= start {
        return Array(slots.dropFirst()) == ours.dropLast() ? .beforeStart : nil
      }
      // The list with more slots ends earlier.
      let end = min(slots.last ?? 0, ours.last ?? 0)
      let different = Set(slots).symmetricDifference(ours).filter { $0 <= end }
      let changes = zone.changes(
        after: Timestamp(epochSeconds: start - 86_400),
        through: Timestamp(epochSeconds: end + 86_400))
      func isNear(_ change: (at: Timestamp, from: Int64, to: Int64)) -> Bool {
        different.allSatisfy { abs($0 - change.at.epochSeconds) <= 86_400 }
      }
      guard !different.isEmpty, let change = changes.first(where: isNear) else { return nil }
      let fields = expression.split(separator: " ")
      if !fields[1].hasPrefix("*") { return fields[0].hasPrefix("*") ? .minuteWildcard : nil }
      if (change.to - change.from) % 3_600 != 0 { return .halfHour }
      let isMidnight = (change.at.epochSeconds + change.from) % 86_400 == 0
      return change.to > change.from && isMidnight ? .midnight : nil
    }
  }

  /// What decision 9 lists.
  private enum Difference: String {
    case minuteWildcard =
      "a minute that begins with * makes cronsim follow the wall; here only the hour does"
    case halfHour =
      "cronsim steps by whole hours, and misses what lies in a change of half an hour"
    case midnight = "cronsim takes a midnight for hour 0 that the clocks have left out"
    case beforeStart = "cronsim gives a slot before its start, within an hour that comes twice"
  }

  @Test func `the same slots, but for the listed differences`() throws {
    let url = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Vectors/cronsim.tsv")
    let lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
    #expect(lines.count == 10_000)
    var agreed = 0
    var differences: [Difference: Int] = [:]
    var schedules: [String: CronSchedule] = [:]
    for line in lines {
      let vector = try #require(Vector(line))
      let zone = try #require(ZoneTimes(identifier: vector.zone))
      let schedule = try schedules[vector.expression] ?? CronSchedule(vector.expression)
      schedules[vector.expression] = schedule
      var slots: [Int64] = []
      var instant = Timestamp(epochSeconds: vector.start)
      while slots.count < vector.slots.count, let next = schedule.next(after: instant, in: zone) {
        slots.append(next.epochSeconds)
        instant = next
      }
      if slots == vector.slots {
        agreed += 1
      } else if let reason = vector.difference(slots, zone) {
        differences[reason, default: 0] += 1
      } else {
        Issue.record("\(line): \(slots)")
      }
    }
    print("cronsim: \(agreed) of \(lines.count) agree")
    for (reason, count) in differences { print("cronsim: \(count): \(reason.rawValue)") }
    // The table of decision 9: one more is news.
    #expect(differences == [.minuteWildcard: 45, .halfHour: 7, .midnight: 2, .beforeStart: 1])
  }
}
