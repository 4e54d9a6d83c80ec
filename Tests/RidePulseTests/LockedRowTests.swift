import Foundation
import PostgresStore
import Testing

/// An app's open transaction on a phone, a table or a ride delays only itself.
@Suite("Rows locked by an app", .timeLimit(.minutes(60))) struct LockedRowTests {
  private static let later = Int((Date().timeIntervalSince1970 + 3600) * 1000)
  private static let earlier = Int((Date().timeIntervalSince1970 - 3600) * 1000)

  private static func token(_ n: Int) -> String {
    "md5('\(n)') || md5('x\(n)')"
  }

  private func gone(_ stage: Stage, _ phones: [(Int, Int)]) async throws {
    var faults: [String] = []
    for (n, timestamp) in phones {
      let token = try await stage.value("select \(Self.token(n))") ?? ""
      faults.append(
        """
        {"match": {"token": "\(token)"}, "action": {"answer":
          {"status": 410, "reason": "Unregistered", "timestamp": \(timestamp)}}}
        """)
    }
    try stage.faults("[\(faults.joined(separator: ","))]")
  }

  private static let verdicts =
    "select count(*) from ridepulse.deliveries where status in ('accepted', 'rejected')"

  @Test(arguments: [1, 2])
  func `A registration in an open transaction delays no settlement`(nodes: Int) async throws {
    try await Stage.run { stage in
      try await SettlementTests.notify(8, stage)
      try await stage.sql("delete from ridepulse.events")
      try await gone(stage, [(1, Self.later), (2, Self.earlier), (3, Self.later)])
      let servers = try (0..<nodes).map { _ in try Server(stage.environment) }
      // Phones 1 and 2 are registered again, in a transaction that stays open.
      let app = try await OpenTransaction(
        stage,
        """
        select ridepulse.register_device('customer', 'c1', \(Self.token(1)));
        select ridepulse.register_device('customer', 'c2', \(Self.token(2)))
        """)
      try await stage.sql(
        "select ridepulse.emit('driver_arrived', 'r' || n) from generate_series(1, 8) n")
      try await stage.until(Self.verdicts, is: "8")
      try await stage.until("select count(*) from ridepulse.events", is: "0")
      // Phone 3 is not locked, and is disabled; phone 1 counts as gone, even though its row is
      // unchanged.
      try await stage.until(
        "select disabled_reason from ridepulse.devices where owner_id = 'c3'", is: "Unregistered")
      #expect(try SettlementTests.arrivals(stage).count == 8)
      #expect(try SettlementTests.arrivals(stage).values.allSatisfy { $0 == 1 })
      try await stage.sql("select ridepulse.emit('driver_nearby', 'r1')")
      try await stage.until(
        "select status || ': ' || reason from ridepulse.deliveries where event = 'driver_nearby'",
        is: "suppressed: no phone of the customer")
      if nodes == 2 { #expect(servers[1].stop() == 0) }
      try await app.commit()
      // The answer of APNs for phone 1 is newer than its registration, that for phone 2 is older.
      try await stage.until(
        """
        select string_agg(owner_id, ' ' order by owner_id) from ridepulse.devices
        where disabled_reason = 'Unregistered'
        """, is: "c1 c3")
      #expect(
        try await stage.value(
          "select disabled_at is null from ridepulse.devices where owner_id = 'c2'")
          == "t")
      #expect(servers[0].stop() == 0)
    }
  }

  @Test func `Creating an index on devices delays neither settlements nor a stop`()
    async throws
  {
    try await Stage.run { stage in
      try await SettlementTests.notify(6, stage)
      try await stage.sql("delete from ridepulse.events")
      try await gone(stage, [(1, Self.later)])
      let server = try Server(stage.environment)
      let app = try await OpenTransaction(stage, "create index on ridepulse.devices (owner_id, id)")
      try await stage.sql(
        "select ridepulse.emit('driver_arrived', 'r' || n) from generate_series(1, 6) n")
      try await stage.until(Self.verdicts, is: "6")
      #expect(server.stop() == 0)
      #expect(try SettlementTests.arrivals(stage).values.allSatisfy { $0 == 1 })
      try await app.commit()
      // The next node applies the outcomes that a stopped node recorded.
      let next = try Server(stage.environment)
      try await stage.until(
        "select disabled_reason from ridepulse.devices where owner_id = 'c1'", is: "Unregistered")
      #expect(next.stop() == 0)
    }
  }

  @Test func `An app that registers many phones gets no deadlock`() async throws {
    try await Stage.run { stage in
      let phones = 24
      try await SettlementTests.notify(phones, stage)
      try await stage.sql("delete from ridepulse.events")
      try await gone(stage, (1...phones).map { ($0, Self.later) })
      let server = try Server(stage.environment)
      let app = try PostgresSession(conninfo: stage.conninfo)
      for round in 0..<25 {
        try await stage.sql(
          "select ridepulse.emit('driver_arrived', 'r' || n) from generate_series(1, \(phones)) n")
        // All of them in one transaction, in random order.
        let calls = (1...phones).shuffled().map { n in
          "select ridepulse.register_device('customer', 'c\(n)', \(Self.token(n)))"
        }
        try await app.script(
          "begin; \(calls.joined(separator: "; select pg_sleep(0.002); ")); commit")
        if round % 5 == 4 { try await stage.settled(within: .seconds(240)) }
      }
      await app.close()
      try await stage.settled(within: .seconds(240))
      #expect(server.stop() == 0)
      #expect(!server.log.contains("40P01"))
    }
  }

  @Test func `A locked agenda row delays only its own ride`() async throws {
    try await Stage.run { stage in
      try await SettlementTests.notify(6, stage)
      try stage.faults(#"[{"match": {"first": 6}, "action": {"delay_ms": 3500}}]"#)
      let server = try Server(stage.environment)
      try await stage.until(
        "select count(*) from ridepulse.agenda where node is not null", is: "6")
      let operatorSession = try await OpenTransaction(
        stage, "select from ridepulse.agenda where ride_id = 'r1' for update")
      try await stage.until(SettlementTests.accepted, is: "5")
      try await SettlementTests.notify(2, from: 11, stage)
      try await stage.until(SettlementTests.accepted, is: "7")
      try await operatorSession.commit()
      try await stage.until(SettlementTests.accepted, is: "8")
      #expect(try SettlementTests.arrivals(stage).values.allSatisfy { $0 == 1 })
      #expect(server.stop() == 0)
    }
  }
}
