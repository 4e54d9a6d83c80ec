import LocalStack
import TestSupport
import RideCore
import Testing

@testable import PostgresStore

@Suite("Behind PgBouncer", .timeLimit(.minutes(60))) struct PoolerTests {
  /// Runs a test with sessions through a small pool in transaction mode.
  private func through(
    sessions count: Int, poolSize: Int = 2, _ body: ([PostgresSession], String) async throws -> Void
  ) async throws {
    let cluster = try await LocalCluster.shared()
    let direct = try await cluster.freshDatabase()
    let pooler = try await LocalPgBouncer(before: cluster, mode: .transaction, poolSize: poolSize)
    let name = direct.split(separator: "=").last.map { String($0) } ?? ""
    let url = pooler.url(database: name)
    let sessions = try (0..<count).map { _ in try PostgresSession(conninfo: url) }
    let result: Result<Void, any Error>
    do {
      result = .success(try await body(sessions, direct))
    } catch {
      result = .failure(error)
    }
    for session in sessions { await session.close() }
    await pooler.stop()
    try result.get()
  }

  @Test func `R35: prepared statements of many clients share connections, and none is confused`()
    async throws
  {
    try await through(sessions: 6) { sessions, _ in
      try await withThrowingTaskGroup { group in
        for (client, session) in sessions.enumerated() {
          group.addTask {
            // The clients act as programs of three versions: one name, several texts.
            let version = client % 3
            let statement = Statement(name: "version", sql: "select \(version), $1::int")
            for turn in 0..<100 {
              let call = Call(statement, ["\(turn)"])
              let results = try await session.run([call, direct("select pg_sleep(0.001)"), call])
              #expect(results.map { $0.int64(0, 0) } == [Int64(version), nil, Int64(version)])
              #expect(results.map { $0.int64(0, 1) } == [Int64(turn), nil, Int64(turn)])
            }
          }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test func `R109: migrate builds indexes behind a pooler, also from two nodes at once`()
    async throws
  {
    try await through(sessions: 2, poolSize: 3) { sessions, direct in
      let owner = try PostgresSession(conninfo: direct)
      _ = try await Migrations.apply(session: owner)
      try await owner.script(
        "drop index ridepulse.rides_by_customer, ridepulse.rides_by_driver, ridepulse.devices_by_suffix"
      )
      async let first = IndexBuild(session: sessions[0]).buildAll()
      async let second = IndexBuild(session: sessions[1]).buildAll()
      let built = try await first + second
      #expect(built == 3)
      #expect(try await IndexBuild(session: owner).missing() == [])
      await owner.close()
    }
  }

  @Test func `R35: what another version prepared under a name is not executed`() async throws {
    try await through(sessions: 2) { sessions, direct in
      let (old, new) = (sessions[0], sessions[1])
      func notify(_ version: Int) -> Call {
        Call(Statement(name: "version", sql: "select \(version)"))
      }
      let watch = try PostgresSession(conninfo: direct)
      // While the old version holds a connection, the new one prepares on the other.
      try await watch.script("select pg_advisory_lock(7)")
      async let first = old.run([
        notify(1), PostgresStoreTests.direct("select pg_advisory_xact_lock(7)"),
      ])
      try await watch.wait(until: waitingForAdvisoryLock, is: "1")
      #expect(try await new.run([notify(2)])[0].int64(0, 0) == 2)
      try await watch.script("select pg_advisory_unlock(7)")
      #expect(try await first[0].int64(0, 0) == 1)
      // The pooler hands out the most recently used connection: the one of the old version.
      #expect(try await new.run([notify(2)])[0].int64(0, 0) == 2)
      await watch.close()
    }
  }

  @Test func `R35: a plan that is outdated on a shared connection costs nobody a run`()
    async throws
  {
    try await through(sessions: 1, poolSize: 1) { sessions, _ in
      let session = sessions[0]
      try await session.script("create table t (n int); insert into t values (1)")
      let all = Call(Statement(name: "all_t", sql: "select * from t"))
      #expect(try await session.run([all])[0].columnCount == 1)
      try await session.script("alter table t add m int")
      // A new connection to the pooler finds the outdated plan under the name that it would
      // prepare.
      #expect(try await session.run([all])[0].columnCount == 2)
    }
  }

  @Test func `R35: a run is one transaction on one connection, and leaves no setting behind`()
    async throws
  {
    try await through(sessions: 6) { sessions, _ in
      let facts = Call(
        Statement(
          name: "facts",
          sql: "select pg_backend_pid(), txid_current(), current_setting('enable_seqscan')"))
      let set = Call(
        Statement(name: "set_it", sql: "select set_config('enable_seqscan', 'off', true)"))
      try await withThrowingTaskGroup { group in
        for session in sessions {
          group.addTask {
            for _ in 0..<50 {
              let results = try await session.run([
                set, facts, direct("select pg_sleep(0.001)"), facts,
              ])
              #expect(results[1].string(0, 2) == "off" && results[3].string(0, 2) == "off")
              for column in 0..<2 {
                #expect(results[1].int64(0, column) == results[3].int64(0, column))
              }
              #expect(try await session.run([facts])[0].string(0, 2) == "on")
            }
          }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test func `R35: nodes migrate at once through it`() async throws {
    try await through(sessions: 4) { sessions, direct in
      try await withThrowingTaskGroup { group in
        for session in sessions {
          group.addTask { _ = try await Migrations.apply(session: session) }
        }
        try await group.waitForAll()
      }
      let own = try PostgresSession(conninfo: direct)
      let landed = try await own.value("select count(*) from ridepulse.migrations")
      #expect(landed == "\(Migrations.all.count)")
      // The lock ends with its transaction: none stays with a connection of the pool.
      let locks = """
        select count(*) from pg_locks l join pg_database d on d.oid = l.database
        where l.locktype = 'advisory' and d.datname = current_database()
        """
      #expect(try await own.value(locks) == "0")
      await own.close()
    }
  }
}
