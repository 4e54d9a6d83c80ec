import Base
import Testing

@testable import PostgresStore
@testable import RideCore

/// Services that run Postgres and refuse some of what a server of one's own allows.
@Suite("Managed Postgres", .timeLimit(.minutes(60))) struct ManagedPostgresTests {
  /// What Amazon Aurora does unless logical replication is on.
  private static let refusal = """
    set local allow_system_table_mods = on;
    alter function pg_catalog.pg_current_wal_lsn() rename to pg_current_wal_lsn_of_server;
    create function pg_catalog.pg_current_wal_lsn() returns pg_lsn language plpgsql as $$
    begin
      raise exception 'WAL control functions cannot be executed' using errcode = '55000';
    end $$
    """

  @Test func `claims, settlements and cursors do without a position of the server's log`()
    async throws
  {
    let url = try await migratedDatabase()
    let owner = try PostgresSession(conninfo: url)
    try await owner.script(Self.refusal)
    let session = try PostgresSession(conninfo: url)
    let refused = await #expect(throws: PostgresError.self) {
      try await session.value("select pg_current_wal_lsn()")
    }
    #expect(refused?.server?.sqlState == "55000")
    var alert = Alert()
    alert.title = LocalizedText([("en", try TextTemplate("x"))])
    let rules = RuleSet(
      activeStates: ["e"], finalStates: [], events: [],
      rules: [
        Rule(
          name: "hello", app: .driver, when: .on(["e"]), what: .alert(alert),
          expires: .after(.seconds(3600)), source: "test")
      ])
    let configuration = EngineConfiguration(
      rules: rules, bundleIDs: [.driver: "com.example.driver"])
    let store = PostgresRideStore(
      node: "11111111-2222-8333-8444-555555555555", host: "test", apps: [.driver], rules: rules,
      lease: .seconds(600), claims: session, settlements: try PostgresSession(conninfo: url),
      log: Log { _, _, _ in })
    try await session.script(
      """
      insert into ridepulse.rides (id, state, driver_id) values ('r', 'e', 'd');
      select ridepulse.register_device('driver', 'd', repeat('ab', 32))
      """)
    let claim = try await store.claim(limit: 10, asleep: false)
    let ride = try #require(claim.rides.first)
    let decision = decide(ride.view, by: configuration, now: claim.now)
    let settled = decision.settled(decision.pushes.map { _ in .accepted }, now: claim.now) { 0.5 }
    _ = try await store.settle([ClaimedSettlement(claim: ride.claim, settlement: settled)])
    #expect(try await session.value("select status from ridepulse.deliveries") == "accepted")
    #expect(
      try await session.value("select split_part(ridepulse.deliveries_cursor(), '.', 2)")
        == "00000000")
    let state = try await ReplicationState.read(session)
    #expect(state.timeline == nil && state.standbys == 0)
  }
}
