import RideCore
import Testing

@testable import PostgresStore

/// Searches whose answer depends on many rides, on time, or on the schema's name.
@Suite(.timeLimit(.minutes(60))) struct PushSearchTests {
  private let session: PostgresSession
  private let url: String

  init() async throws {
    url = try await migratedDatabase()
    session = try PostgresSession(conninfo: url)
  }

  @Test func `R113: no ride of a busy person hides a live one`() async throws {
    try await session.script(
      """
      set session_replication_role = replica;
      insert into ridepulse.rides (id, driver_id, updated_at)
      select 'old' || n, 'd1', now() - n * interval '1 minute' from generate_series(1, 60) n;
      insert into ridepulse.rides (id, driver_id, updated_at) values
        ('live', 'd1', now() - interval '1 day');
      insert into ridepulse.agenda (ride_id, fence, leased_until) values ('live', 0, '-infinity');
      reset session_replication_role
      """)
    let found = try await PushSearch(session: session).result(of: .owner(OwnerID("d1"))).rides
    #expect(found.items.first?.id == RideID("live"))
    #expect(found.items.first?.isLive == true)
    #expect(found.items.count == PushSearch.limit && found.hasMore)
    #expect(found.items.dropFirst().map(\.id) == (1...49).map { RideID("old\($0)") })
  }

  @Test func `R113: an app whose name begins as the schema's is found in another schema`()
    async throws
  {
    let berlin = try PostgresSession(conninfo: url, schema: try SchemaName("berlin"))
    _ = try await Migrations.apply(session: berlin)
    let app = "ridepulse_fleet"
    _ = try await berlin.run([
      direct("insert into ridepulse.apps (app) values ($1)", [app]),
      direct(
        "insert into ridepulse.rides (id, attributes) values ('r1', jsonb_build_object($1::text, 'f1'))",
        [app + "_id"]),
    ])
    let found = try await PushSearch(session: berlin).result(of: .owner(OwnerID("f1")))
    #expect(found.rides.items.map(\.app) == [app])
    await berlin.close()
  }

  @Test func `R113: the time limit holds for all reads of a search together`() async throws {
    // Each read of a person waits for one of them, for less than the limit.
    let observer = try PostgresSession(conninfo: url)
    let tables = ["live_activities", "ledger"]
    let lockers = try tables.map { _ in try PostgresSession(conninfo: url) }
    var pids: [String] = []
    for (locker, table) in zip(lockers, tables) {
      let pid = try await locker.value("select pg_backend_pid()") ?? ""
      Task {
        try? await locker.script(
          "lock table ridepulse.\(table) in access exclusive mode; select pg_sleep(600)")
      }
      pids.append(pid)
    }
    try await observer.wait(
      until: """
        select count(*) from pg_locks where granted and mode = 'AccessExclusiveLock'
          and database = (select oid from pg_database where datname = current_database())
          and relation in ('ridepulse.live_activities'::regclass, 'ridepulse.ledger'::regclass)
        """, is: "2")
    let limited = try PostgresSession(conninfo: url, leastTimeout: .zero)
    let search = PushSearch(session: limited)
    let searching = Task { () async -> PostgresError? in
      do throws(PostgresError) {
        _ = try await search.result(of: .owner(OwnerID("c1")), timeout: .seconds(15))
        return nil
      } catch {
        return error
      }
    }
    try await observer.wait(
      until: """
        select count(*) from pg_locks where not granted and mode = 'AccessShareLock'
          and database = (select oid from pg_database where datname = current_database())
        """, is: "1")
    for pid in pids {
      try await Task.sleep(for: .seconds(10))  // poll: how long a lock is held is tested
      _ = try await observer.value("select pg_cancel_backend($1::int)", [pid])
    }
    let error = await searching.value
    guard case .timeout? = error?.kind else {
      Issue.record("got \(String(describing: error))")
      return
    }
    for session in lockers + [observer, limited] { await session.close() }
  }
}
