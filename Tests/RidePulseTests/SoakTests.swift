import Base
import Foundation
import LocalStack
import RideCore
import Testing
import TestSupport

/// A test of several minutes, run on request: `RIDEPULSE_SOAK_MINUTES=10 swift test --filter Soak`.
@Suite("Soak") struct SoakTests {
  private static let minutes = ProcessInfo.processInfo.environment["RIDEPULSE_SOAK_MINUTES"]
    .flatMap { Int($0) }

  @Test(.enabled(if: minutes != nil))
  func `heartbeats of 10,000 rides, two nodes, one of them killed again and again`() async throws {
    try await Stage.run { stage in
      let rules = stage.directory + "/rules"
      try FileManager.default.createDirectory(atPath: rules, withIntermediateDirectories: true)
      try Data(
        """
        rules:
          - name: beat
            app: driver
            every: 1m
            while: [ride_started]
            background: {}
            expires: 1m
            collapse: "beat-{{ride.id}}"

        """.utf8
      ).write(to: URL(fileURLWithPath: rules + "/a.yaml"))
      let environment = stage.environment.merging(["RIDEPULSE_SCHEDULES": rules]) { $1 }
      try await stage.sql(
        """
        select count(ridepulse.register_device('driver', 'd' || n, md5(n::text) || md5('x' || n)))
        from generate_series(1, 10000) n
        """)
      // The rides are inserted over a minute, at a realistic pace.
      let steady = try Server(environment)
      var other = try Server(environment)
      for part in 0..<100 {
        try await stage.sql(
          """
          insert into ridepulse.rides (id, state, driver_id) select 'r' || n, 'ride_started', 'd' || n
          from generate_series(\(part * 100 + 1), \(part * 100 + 100)) n
          """)
        try await Task.sleep(for: .milliseconds(500))  // poll: none, this is the pace
      }
      let seed = TestSeed.value(6)
      var numbers = SeededGenerator(seed: seed)
      var kills = 0
      let end = ContinuousClock.now + .seconds((Self.minutes ?? 1) * 60)
      while ContinuousClock.now < end {
        try await Task.sleep(for: .seconds(Int.random(in: 5...45, using: &numbers)))  // poll: none
        other.kill9()
        kills += 1
        try await Task.sleep(for: .seconds(Int.random(in: 0...10, using: &numbers)))  // poll: none
        other = try Server(environment)
      }
      #expect(other.stop() == 0)
      #expect(steady.stop() == 0)
      try await report(stage, kills, seed)
      #expect(!steady.log.contains("do not add up"))
    }
  }

  private func report(_ stage: Stage, _ kills: Int, _ seed: UInt64) async throws {
    let tally = try await stage.rows(
      "select sum(due), sum(fired), sum(skipped), sum(expired), sum(remainder) from ridepulse.slots"
    )
    // Two slots of one ride are whole minutes apart, and no slot is repeated.
    let spacing = try await stage.rows(
      """
      select count(*), count(*) filter (where gap < interval '1 minute'),
        count(*) filter (where extract(epoch from gap) * 1000000 % 60000000 <> 0), max(gap)
      from (select occurred_at - lag(occurred_at) over (partition by ride_id order by occurred_at) gap
            from ridepulse.ledger where attempts > 0) gaps
      """)
    let missed = try await stage.rows(
      """
      select coalesce(max(missed), 0), coalesce(sum(missed), 0) from (
        select sum(extract(epoch from gap) / 60 - 1) missed from (
          select ride_id, occurred_at - lag(occurred_at) over (partition by ride_id order by occurred_at) gap
          from ridepulse.ledger where attempts > 0) gaps group by ride_id) rides
      """)
    let arrivals = try stage.arrivals().filter(\.isAccepted)
    let repeats = arrivals.count - Set(arrivals.map(\.id)).count
    print(
      """
      soak: seed \(seed), \(kills) kills, \(arrivals.count) arrivals, \(repeats) of them repeats under \
      the same apns-id; due, fired, skipped, expired, remainder: \(tally[0].map { $0 ?? "" }); beats, too close, off the grid, \
      longest gap: \(spacing[0].map { $0 ?? "" }); most missed by a ride, and by all: \(missed[0].map { $0 ?? "" })
      """)
    #expect(tally[0].last == "0")
    #expect(spacing[0][1] == "0" && spacing[0][2] == "0")
    #expect((missed[0][0].flatMap { Double($0) } ?? 99) <= Double(kills))
    let unheard = try await stage.value(
      "select count(*) from ridepulse.ledger where attempts > 0 and status <> 'accepted'")
    #expect(unheard == "0")
  }
}
