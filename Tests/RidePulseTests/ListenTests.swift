import Base
import Foundation
import LocalStack
import PostgresStore
import RideCore
import Testing
import TestSupport

@Suite("LISTEN and polling") struct ListenTests {
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

  @Test func `R34: closed sessions are reopened, and LISTEN recovers`() async throws {
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
  func `R34: a half-open socket delays nothing for long, and LISTEN recovers`(
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
      try await server.waitForLog("LISTEN lost")
      let unhealthy = start.duration(to: .now)
      try await server.waitForLog("LISTEN works again")
      try await stage.until(Self.isAsleep, is: "t")
      let healthy = start.duration(to: .now)
      print(
        "R34: half-open (\(whose)): event to push \(time), unhealthy after \(unhealthy),",
        "healthy after \(healthy)")
      // It is logged once for each loss; a machine that stalls may cause another.
      let changes = server.log.matches(of: /LISTEN (lost|has no effect|works again)/)
        .map { $0.output.1 == "works again" }
      #expect(changes == changes.indices.map { !$0.isMultiple(of: 2) }, "\(server.log)")
      // A notification wakes it again, and not the poll.
      _ = try await timeOfEvent(stage)
      try await stage.settled()
      #expect(try stage.arrivals().count == 2)
      #expect(server.log.contains("Woken"))
      #expect(server.stop() == 0)
    }
  }

  @Test
  func `R35: behind PgBouncer in transaction mode it polls, loses nothing and logs that once`()
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
        try await server.waitForLog("LISTEN has no effect")
        #expect(server.stop() == 0)
        #expect(server.log.components(separatedBy: "LISTEN has no effect").count == 2)
        #expect(server.log.contains("pool in session mode"))
        #expect(!server.log.contains("Can't"), "\(server.log)")
      }
      await pooler.stop()
    }
  }

  @Test func `R35: PgBouncer in session mode supports LISTEN; migrate works in both modes`()
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
  func `R36: a transaction notifies once, without a payload, and only a sleeping node`()
    async throws
  {
    try await Stage.run { stage in
      let (received, handle) = AsyncStream.makeStream(of: SessionEvent.self)
      let listener = try PostgresSession(conninfo: stage.conninfo, listen: ["ridepulse_wake"]) {
        handle.yield($0)
      }
      _ = try await listener.run([Call(Statement(name: "", sql: "select 1"))])
      /// Returns the payloads that one transaction with many events sends.
      func payloads(
        _ sleepers: String, sourceLocation: Testing.SourceLocation = #_sourceLocation
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
        for await case .notification(_, let payload) in received {
          if payload == "the end" { break }
          payloads.append(payload)
        }
        return payloads
      }
      // Live however long the test takes.
      let seen = "now() + interval '1 hour'"
      let sleeper = "values (gen_random_uuid(), 'a', true, \(seen), 1)"
      #expect(try await payloads(sleeper) == [""])
      #expect(try await payloads(sleeper + ", (gen_random_uuid(), 'b', true, \(seen), 1)") == [""])
      #expect(try await payloads("values (gen_random_uuid(), 'a', false, \(seen), 1)") == [])
      let gone = "values (gen_random_uuid(), 'a', true, now() - interval '1 minute', 1)"
      #expect(try await payloads(gone) == [])
      // The trigger function `wake` does not run for each event either.
      try await stage.until(
        "select calls from pg_stat_user_functions where funcname = 'wake'", is: "4")
      await listener.close()
    }
  }
}

/// Tests of `RIDEPULSE_LISTEN=off`: no transaction contains a NOTIFY.
@Suite("Polling only", .timeLimit(.minutes(60))) struct PollingTests {
  private static let prepare = """
    begin;
    select ridepulse.emit('driver_nearby', 'r1');
    prepare transaction 'booking'
    """

  @Test func `An app can prepare transactions, which it cannot while a node sleeps`()
    async throws
  {
    let cluster = try await LocalCluster(
      durability: .fast, options: ["max_prepared_transactions=4"])
    try await Stage.run(cluster: cluster) { stage in
      try await stage.addRide()
      let listening = try Server(stage.environment)
      try await stage.until("select bool_or(asleep) from ridepulse.nodes", is: "t")
      let refusal = await #expect(throws: PostgresError.self) {
        try await stage.sql(Self.prepare)
      }
      #expect(refusal?.server?.sqlState == "0A000")
      #expect(listening.stop() == 0)

      var environment = stage.environment
      environment["RIDEPULSE_LISTEN"] = "off"
      environment["RIDEPULSE_ADMIN"] = "127.0.0.1:0"
      let server = try Server(environment)
      try await stage.until("select count(*) from ridepulse.nodes", is: "1")
      // Covers as many polls as a node makes in a few seconds of rest.
      for _ in 1...20 {
        try await Task.sleep(for: .milliseconds(200))  // poll: at any moment of the node's rest
        try await stage.sql(Self.prepare)
        #expect(try await stage.value("select bool_or(asleep) from ridepulse.nodes") == "f")
        try await stage.sql("commit prepared 'booking'")
      }
      try await stage.settled()
      // One by one or several in a look: a busy node sends the newest of those.
      let ended =
        "select count(*) from ridepulse.deliveries where status in ('accepted', 'superseded')"
      #expect(try await stage.value(ended) == "20")
      #expect(
        try await stage.value(
          "select count(*) from pg_stat_activity where application_name = 'ridepulse listen'")
          == "0")
      let url = "http://127.0.0.1:\(server.field("port") ?? "")/metrics"
      let metrics = try Command.run("/usr/bin/curl", ["--silent", url]).output
      #expect(!metrics.contains("\nridepulse_listen_healthy"))
      try Checkup(environment).expect("listen", "ok", "off: an event waits")
      #expect(server.stop() == 0)
    }
    await cluster.stop()
  }

  @Test func `Another value is refused`() async throws {
    try await Stage.run { stage in
      let environment = stage.environment.merging(["RIDEPULSE_LISTEN": "no"]) { $1 }
      let result = try Command.ridepulse(["serve", "--once"], environment)
      #expect(result.status == 1)
      #expect(
        result.errors.contains("RIDEPULSE_LISTEN is none of on, off and a connection string"))
    }
  }
}
