import Base
import Foundation
import PostgresStore
import RideCore
import Testing
import TestSupport

@Suite("A stream of events") struct StreamTests {
  private static let events = ["driver_nearby", "waiting_fee_started", "driver_reassigned"]

  /// Adds this many rides, each with its own customer and one phone, without an event.
  private func addRides(_ count: Int, _ stage: Stage) async throws {
    try await stage.sql(
      """
      set ridepulse.silent = 'on';
      insert into ridepulse.rides (id, state, customer_id)
      select 'ride-' || n, 'requested', 'customer-' || n from generate_series(1, \(count)) n;
      select ridepulse.register_device('customer', 'customer-' || n, md5(n::text) || md5('x' || n))
      from generate_series(1, \(count)) n;
      reset ridepulse.silent
      """)
  }

  /// Emits events one by one, each in its own transaction; returns all committed IDs.
  private static func emit(
    _ count: Int, rides: Int, on session: PostgresSession
  ) async throws -> [Int64] {
    let emit = Statement(name: "stream_emit", sql: "select ridepulse.emit($1, $2)")
    var ids: [Int64] = []
    for number in 0..<count {
      let event = events[number / rides % events.count]
      let results = try await session.run([Call(emit, [event, "ride-\(number % rides + 1)"])])
      ids.append(results[0].int64(0, 0) ?? 0)
      // The pace of a producer and not the database's limit, so that kills fall between events.
      try await Task.sleep(for: .milliseconds(2))  // poll: none, this is the pace
    }
    return ids
  }

  @Test func `Repeated kill -9: every event has its verdict, every phone its push`()
    async throws
  {
    let seed = TestSeed.value(4)
    try await Stage.run { stage in
      try await addRides(100, stage)
      try stage.faults(#"[{"match": {"every": 4}, "action": {"delay_ms": 30}}]"#)
      let session = stage.session
      async let committed = Self.emit(300, rides: 100, on: session)
      try await killRepeatedly(stage, SeededGenerator(seed: seed))
      let ids = try await committed
      let server = try Server(stage.environment)
      try await stage.settled(within: .seconds(240))
      #expect(server.stop() == 0)
      let rows = try await stage.rows(
        """
        select event_id from ridepulse.ledger where app = 'customer'
          and (status = 'accepted' or reason like 'superseded by %')
        """)
      let ended = Set(rows.compactMap { $0[0].flatMap { Int64($0) } })
      #expect(Set(ids).count == 300)
      #expect(rows.count == 300)
      #expect(Set(ids).symmetricDifference(ended).isEmpty, "seed \(seed)")
      try await expectEachReceived(stage, seed)
    }
  }

  /// Starts the service and kills it, five times, while events are emitted.
  private func killRepeatedly(_ stage: Stage, _ seeded: SeededGenerator) async throws {
    var numbers = seeded
    for _ in 1...5 {
      let server = try Server(stage.environment)
      let delay = Int.random(in: 0...120, using: &numbers)
      try await Task.sleep(for: .milliseconds(delay))  // poll: the kill is to come at random
      server.kill9()
    }
  }

  /// Expects that each accepted push of the ledger arrived, and no event of a phone under two IDs.
  private func expectEachReceived(_ stage: Stage, _ seed: UInt64) async throws {
    let arrivals = try stage.arrivals()
    let accepted = try await stage.rows(
      "select apns_id from ridepulse.ledger where app = 'customer' and status = 'accepted'")
    let unheard = Set(accepted.compactMap { $0[0] }).subtracting(arrivals.map(\.id))
    #expect(unheard.isEmpty, "seed \(seed)")
    let received = Dictionary(grouping: arrivals, by: { "\($0.token) \($0.event ?? "")" })
    for (push, arrivals) in received where Set(arrivals.map(\.id)).count != 1 {
      Issue.record("\(push) came under \(Set(arrivals.map(\.id))), seed \(seed)")
    }
  }

  @Test func `Two nodes send 500 events exactly once each, and both work`() async throws {
    try await Stage.run { stage in
      try await addRides(250, stage)
      // Slow answers, so that a ride is leased long enough to be observed.
      try stage.faults(#"[{"match": {}, "action": {"delay_ms": 20}}]"#)
      let nodes = [try Server(stage.environment), try Server(stage.environment)]
      var workers: Set<String> = []
      for event in ["driver_nearby", "waiting_fee_started"] {
        for part in 0..<25 {
          try await stage.sql(
            """
            select ridepulse.emit('\(event)', 'ride-' || n)
            from generate_series(\(part * 10 + 1), \(part * 10 + 10)) n
            """)
          let holders = try await stage.rows(
            "select distinct left(node::text, 18) from ridepulse.agenda where node is not null")
          workers.formUnion(holders.compactMap { $0[0] })
        }
        // Otherwise the later push of one claim would replace the earlier one.
        try await stage.settled()
      }
      try await stage.settled()
      #expect(nodes.map { $0.stop() } == [0, 0])
      let ids = try stage.arrivals().map(\.id)
      #expect(Set(ids).count == 500)
      // Whatever a node sends before a stall that outlasts its lease is sent again, with its ID.
      let lostLeases = nodes.contains { $0.log.contains("Leases lost") }
      #expect(ids.count == 500 || lostLeases)
      #expect(workers.count == 2)
    }
  }
}
