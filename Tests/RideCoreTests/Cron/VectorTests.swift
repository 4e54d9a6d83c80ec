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

    /// Where the two differ on purpose; nil where they must agree.
    ///
    /// Both are about a change of the clocks between the start and the last slot.
    func difference(_ ours: [Int64], _ zone: ZoneTimes) -> String? {
      if let first = slots.first, first <= start {
        return "cronsim gives a slot before its start, within an hour that comes twice"
      }
      let end = max(slots.last ?? 0, ours.last ?? 0)
      let changes = zone.changes(
        after: Instant(epochSeconds: start - 86_400), through: Instant(epochSeconds: end + 86_400))
      if changes.isEmpty { return nil }
      let fields = expression.split(separator: " ")
      if fields[0].hasPrefix("*"), !fields[1].hasPrefix("*") {
        return "a minute that begins with * makes cronsim follow the wall; here only the hour does"
      }
      if fields[1].hasPrefix("*"), changes.contains(where: { abs($0.to - $0.from) % 3600 != 0 }) {
        return "cronsim steps by whole hours, and misses what lies in a change of half an hour"
      }
      if fields[1].hasPrefix("*"),
        changes.contains(where: { $0.to > $0.from && ($0.at.epochSeconds + $0.from) % 86_400 == 0 })
      {
        return "cronsim takes a midnight for hour 0 that the clocks have left out"
      }
      return nil
    }
  }

  @Test func `the same slots, but for the listed differences`() throws {
    let url = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Vectors/cronsim.tsv")
    let lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
    #expect(lines.count == 10_000)
    var agreed = 0
    var differences: [String: Int] = [:]
    for line in lines {
      let vector = try #require(Vector(line))
      let zone = try #require(ZoneTimes(identifier: vector.zone))
      let schedule = try CronSchedule(vector.expression)
      var slots: [Int64] = []
      var instant = Instant(epochSeconds: vector.start)
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
    print("cronsim: \(agreed) of \(lines.count) agree; on purpose: \(differences)")
    #expect(agreed > 9_500)
  }
}
