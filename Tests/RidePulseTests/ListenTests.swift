import Foundation
import LocalPostgres
import PostgresStore
import RideCore
import Testing
import TestSupport

@Suite("What wakes a node, and what where nothing does") struct ListenTests {
  /// True if producers notify the node: only while notifications are known to reach it.
  private static let isAsleep = "select bool_or(asleep) from ridepulse.nodes"

  /// Runs a stage whose service reaches Postgres through a proxy; the test itself does not.
  private func run(_ body: (Stage, Proxy, [String: String]) async throws -> Void) async throws {
    let cluster = try await LocalCluster.shared()
    try await Stage.run { stage in
      try await stage.addRide()
      let proxy = try Proxy(to: cluster.directory)
      defer { proxy.stop() }
      let name = try #require(stage.conninfo.split(separator: "=").last)
      let url = "host=127.0.0.1 port=\(proxy.port) user=postgres dbname=\(name)"
      try await body(stage, proxy, stage.environment.merging(["DATABASE_URL": url]) { $1 })
    }
  }

  /// Measures the time from an event to its push.
  private func timeOfEvent(_ stage: Stage) async throws -> Duration {
    let before = try stage.arrivals().count
    let start = ContinuousClock.now
    try await stage.sql("select ridepulse.emit('driver_nearby', 'r1')")
    try await wait(until: "the event's push arrives", every: .milliseconds(10)) {
      try stage.arrivals().count > before
    }
    return start.duration(to: .now)
  }

  @Test func `R34: cut sessions are opened again, and LISTEN is healthy again`() async throws {
    try await Stage.run { stage in
      try await stage.addRide()
      let server = try Server(stage.environment)
      var slowest: Duration = .zero
      for _ in 1...5 {
        try await stage.until(Self.isAsleep, is: "t")
        try await stage.sql(
          """
          delete from ridepulse.nodes;
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and application_name like 'ridepulse %'
          """)
        slowest = max(slowest, try await timeOfEvent(stage))
        try await stage.settled()
      }
      print("R34: cut sessions: event to push within \(slowest)")
      #expect(try stage.arrivals().count == 5)
      #expect(server.isRunning && server.stop() == 0)
      #expect(!server.log.contains("LISTEN"), "\(server.log)")
    }
  }

  @Test(arguments: [Proxy.Whose.all, .listeners])
  func `R34: over a half-open socket nothing waits for long, and LISTEN is healthy again`(
    whose: Proxy.Whose
  ) async throws {
    try await run { stage, proxy, environment in
      let server = try Server(environment)
      try await stage.until(Self.isAsleep, is: "t")
      let start = ContinuousClock.now
      proxy.swallow(whose)
      let time = try await timeOfEvent(stage)
      try await stage.settled()
      // On a busy machine both may have happened before the push; the log still contains both.
      try await server.says("LISTEN lost")
      let unhealthy = start.duration(to: .now)
      try await server.says("LISTEN works again")
      try await stage.until(Self.isAsleep, is: "t")
      let healthy = start.duration(to: .now)
      print(
        "R34: half-open (\(whose)): event to push \(time), unhealthy after \(unhealthy),",
        "healthy after \(healthy)")
      #expect(server.log.components(separatedBy: "LISTEN lost").count == 2, "\(server.log)")
      // A notification wakes it again, and not the poll.
      _ = try await timeOfEvent(stage)
      try await stage.settled()
      #expect(try stage.arrivals().count == 2)
      #expect(server.log.contains("Woken"))
      #expect(server.stop() == 0)
    }
  }

  @Test func `R35: behind PgBouncer in transaction mode it polls, loses nothing and says so once`()
    async throws
  {
    let cluster = try await LocalCluster.shared()
    try await Stage.run { stage in
      try await stage.addRide()
      let pooler = try await LocalPgBouncer(before: cluster, mode: .transaction, poolSize: 2)
      let url = pooler.url(database: String(stage.conninfo.split(separator: "=").last ?? ""))
      let environment = stage.environment.merging(["DATABASE_URL": url]) { $1 }
      // Two nodes share the pool's connections and the statements prepared on them.
      let servers = [try Server(environment), try Server(environment)]
      var slowest: Duration = .zero
      var numbers = SeededGenerator(seed: TestSeed.value(35))
      for _ in 1...6 {
        let pause = Int.random(in: 100...2_500, using: &numbers)
        try await Task.sleep(for: .milliseconds(pause))  // poll: at any moment of the nodes' rest
        slowest = max(slowest, try await timeOfEvent(stage))
      }
      try await stage.sql(
        """
        insert into ridepulse.rides (id, state, customer_id)
        select 'many-' || n, 'driver_en_route', 'c1' from generate_series(1, 300) n
        """)
      try await stage.settled()
      print("R35: behind PgBouncer: event to push within \(slowest)")
      #expect(Set(try stage.arrivals().map(\.id)).count == 306)
      #expect(try await stage.value(Self.isAsleep) == "f")
      for server in servers {
        // Long enough for the next health check of LISTEN to fail as well.
        try await server.says("LISTEN has no effect")
        #expect(server.stop() == 0)
        #expect(server.log.components(separatedBy: "LISTEN has no effect").count == 2)
        #expect(server.log.contains("pool in session mode"))
        #expect(!server.log.contains("Can't"), "\(server.log)")
      }
      await pooler.stop()
    }
  }

  @Test func `R35: PgBouncer in session mode is as good as none; migrate works through both`()
    async throws
  {
    let cluster = try await LocalCluster.shared()
    try await Stage.run { stage in
      try await stage.addRide()
      let sessions = try await LocalPgBouncer(before: cluster, mode: .session, poolSize: 8)
      let transactions = try await LocalPgBouncer(before: cluster, mode: .transaction)
      for pooler in [sessions, transactions] {
        let fresh = try await cluster.freshDatabase().split(separator: "=").last ?? ""
        let environment = ["DATABASE_URL": pooler.url(database: String(fresh))]
        let first = try Command.ridepulse(["migrate"], environment)
        #expect(first.status == 0 && first.output.contains("applied 0001_"), "\(first.errors)")
        let second = try Command.ridepulse(["migrate"], environment)
        #expect(second.output == "the schema is current\n", "\(second.errors)")
      }
      let url = sessions.url(database: String(stage.conninfo.split(separator: "=").last ?? ""))
      let server = try Server(stage.environment.merging(["DATABASE_URL": url]) { $1 })
      try await stage.until(Self.isAsleep, is: "t")
      _ = try await timeOfEvent(stage)
      try await stage.settled()
      #expect(server.stop() == 0)
      #expect(!server.log.contains("LISTEN"), "\(server.log)")
      await sessions.stop()
      await transactions.stop()
    }
  }

  @Test
  func `R36: a transaction notifies once and says nothing, and where nobody sleeps not at all`()
    async throws
  {
    try await Stage.run { stage in
      let (heard, handle) = AsyncStream.makeStream(of: SessionEvent.self)
      let listener = try PostgresSession(conninfo: stage.conninfo, listen: ["ridepulse_wake"]) {
        handle.yield($0)
      }
      _ = try await listener.run([Call(Statement(name: "", sql: "select 1"))])
      /// Returns the payloads that one transaction with many events sends.
      func payloads(
        _ sleepers: String, sourceLocation: SourceLocation = #_sourceLocation
      ) async throws -> [String] {
        try await stage.sql(
          "delete from ridepulse.nodes; insert into ridepulse.nodes \(sleepers)")
        try await stage.sql(
          """
          set track_functions = 'all';
          select ridepulse.emit('driver_nearby', 'r' || n) from generate_series(1, 1000) n
          """)
        try await stage.sql("select pg_notify('ridepulse_wake', 'the end')")
        var payloads: [String] = []
        for await case .notification(_, let payload) in heard {
          if payload == "the end" { break }
          payloads.append(payload)
        }
        return payloads
      }
      let sleeper = "values (gen_random_uuid(), 'a', true, now(), 1)"
      #expect(try await payloads(sleeper) == [""])
      #expect(try await payloads(sleeper + ", (gen_random_uuid(), 'b', true, now(), 1)") == [""])
      #expect(try await payloads("values (gen_random_uuid(), 'a', false, now(), 1)") == [])
      let gone = "values (gen_random_uuid(), 'a', true, now() - interval '1 minute', 1)"
      #expect(try await payloads(gone) == [])
      // The trigger function `wake` does not run for each event either.
      try await stage.until(
        "select calls from pg_stat_user_functions where funcname = 'wake'", is: "4")
      await listener.close()
    }
  }
}
