import Base
import Testing

@testable import PostgresStore
@testable import RideCore

/// Tests of the settlement check, of leases, and of rides that other sessions have locked.
@Suite("Settling at all", .timeLimit(.minutes(60))) struct SettleCheckTests {
  private let url: String
  private let session: PostgresSession
  private let store: PostgresRideStore
  private let rules: RuleSet

  init() async throws {
    url = try await migratedDatabase()
    session = try PostgresSession(conninfo: url)
    let rule = Rule(
      name: "beat", app: .driver,
      when: .at(Timing(.every(.seconds(1200)), while: ["e"])), what: .background,
      expires: .after(.seconds(60)), source: "test")
    rules = RuleSet(activeStates: ["e"], finalStates: [], events: [], rules: [rule])
    store = PostgresRideStore(
      node: "11111111-2222-8333-8444-555555555555", host: "test", apps: [.customer], rules: rules,
      lease: .seconds(600), claims: session, settlements: try PostgresSession(conninfo: url),
      log: Log { _, _, _ in })
  }

  /// Returns the number of rows of each table that a settlement may write to.
  private func rows() async throws -> [String?] {
    var counts: [String?] = []
    for table in ["agenda", "ledger", "slot_counts", "token_outcomes", "events", "live_activities"]
    {
      counts.append(try await session.value("select count(*) from ridepulse.\(table)"))
    }
    return counts
  }

  @Test func `a check leaves nothing behind, and may be repeated`() async throws {
    for _ in 0..<3 { try await store.checkSettling() }
    #expect(try await rows() == ["0", "0", "0", "0", "0", "0"])
  }

  /// A trigger that refuses every row makes the check fail, because it writes to each of these
  /// tables.
  @Test(arguments: ["agenda", "ledger", "slot_counts", "token_outcomes", "events"])
  func `a check fails where a settlement would, also for what happens at the commit`(table: String)
    async throws
  {
    try await session.script(
      """
      create function public.refuse() returns trigger language plpgsql as
        'begin raise exception ''no''; end';
      create constraint trigger refuse after insert on ridepulse.\(table)
      deferrable initially deferred for each row execute function public.refuse()
      """)
    await #expect(throws: StoreFailure.self) { try await store.checkSettling() }
    try await session.script("drop trigger refuse on ridepulse.\(table)")
    try await store.checkSettling()
  }

  @Test(arguments: [
    ("P0001", StoreFailure.Cause.refused), ("42501", .refused), ("54000", .refused),
    ("XX000", .refused), ("23514", .values), ("22003", .values), ("53100", .unavailable),
    ("57014", .timeout), ("40001", .conflict), ("40P01", .conflict), ("55P03", .conflict),
    ("57P01", .unavailable), ("25006", .unavailable), ("58030", .unavailable),
  ])
  func `what an SQLSTATE says`(state: String, cause: StoreFailure.Cause) {
    let error = PostgresError(.server(ServerError(sqlState: state, message: "no")))
    #expect(error.failure.cause == cause)
    #expect(error.failure.description.hasPrefix(state))
  }

  @Test func `a lease is renewed while the ride is ours, and only then`() async throws {
    try await session.script("select ridepulse.emit('e', 'r' || n) from generate_series(1, 3) n")
    let claims = try await store.claim(limit: 10, asleep: false).rides.map(\.claim)
    #expect(claims.count == 3)
    try await session.script(
      """
      update ridepulse.agenda set leased_until = now() - interval '1 s';
      update ridepulse.agenda set fence = 999 where ride_id = 'r2'
      """)
    #expect(try await store.renew(claims).map(\.rideID) == ["r2"])
    let kept =
      "select string_agg(ride_id, ' ' order by ride_id) from ridepulse.agenda where leased_until > now()"
    #expect(try await session.value(kept) == "r1 r3")
  }

  @Test func `a locked agenda row is neither settled nor lost, and holds up no other`() async throws
  {
    try await session.script("select ridepulse.emit('e', 'r' || n) from generate_series(1, 3) n")
    let claim = try await store.claim(limit: 10, asleep: false)
    let batch = claim.rides.map { ride in
      ClaimedSettlement(
        claim: ride.claim,
        settlement: Settlement(
          rideID: ride.claim.rideID, consumed: ride.view.events.map(\.key), isOver: true))
    }
    let other = try PostgresSession(conninfo: url)
    let transaction = other.begin(
      "select pg_sleep(600) from (select from ridepulse.agenda where ride_id = 'r2' for update) r")
    try await session.wait(
      until: """
        select count(*) from pg_stat_activity
        where datname = current_database() and wait_event = 'PgSleep'
        """, is: "1")
    let result = try await store.settle(batch)
    #expect(result.locked.map(\.rideID) == ["r2"] && result.lost.isEmpty)
    #expect(
      try await session.value("select string_agg(ride_id, ' ') from ridepulse.events") == "r2")
    // New rules reach all rides except the locked one, which follows later.
    try await session.script(
      """
      insert into ridepulse.rides (id, state) select 'r' || n, 'e' from generate_series(1, 3) n;
      delete from ridepulse.events where ride_id <> 'r2'
      """)
    let failure = await #expect(throws: StoreFailure.self) { try await store.adopt(rules) }
    #expect(failure?.cause == .conflict)
    let due =
      "select string_agg(ride_id, ' ' order by ride_id) from ridepulse.agenda where due_at <= now()"
    #expect(try await session.value(due) == "r1 r3")
    try await session.script("update ridepulse.agenda set due_at = null where ride_id <> 'r2'")
    _ = try await session.value(
      """
      select pg_cancel_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event = 'PgSleep'
      """)
    _ = await transaction.value
    await other.close()
    #expect(try await store.adopt(rules) == 3)
    #expect(try await session.value(due) == "r2", "the others are not made due twice")
    let again = try await store.settle(batch)
    #expect(again.locked.isEmpty && again.lost.map(\.rideID).sorted() == ["r1", "r3"])
    #expect(
      try await session.value("select count(*) from ridepulse.events") == "1", "that of the new row"
    )
  }

  @Test func `a settlement records an invalid token once, and does not change the token`()
    async throws
  {
    try await session.script(
      """
      insert into ridepulse.devices (app, owner_id, token) values ('customer', 'c', 't');
      select ridepulse.emit('e', 'r' || n) from generate_series(1, 2) n
      """)
    let claim = try await store.claim(limit: 10, asleep: false)
    let since = claim.now
    _ = try await store.settle(
      claim.rides.map { ride in
        var settlement = Settlement(
          rideID: ride.claim.rideID, consumed: ride.view.events.map(\.key), isOver: true)
        settlement.invalidations = [
          TokenInvalidation(
            kind: .phone, id: 1, since: since - .seconds(3600), reason: "ExpiredToken"),
          TokenInvalidation(kind: .phone, id: 1, since: since, reason: "Unregistered"),
          TokenInvalidation(kind: .activity, id: 1, since: nil, reason: "ended"),
        ]
        settlement.observations = [
          PhoneObservation(phone: 1, .good), PhoneObservation(phone: 2, .bad(probe: nil)),
          PhoneObservation(phone: 2, .throttled(until: since)),
        ]
        return ClaimedSettlement(claim: ride.claim, settlement: settlement)
      })
    let noted = try await session.value(
      """
      select string_agg(concat_ws(' ', kind, token_id, gone_reason, is_refused, is_good,
        quiet_until is not null), ', ' order by kind, token_id) from ridepulse.token_outcomes
      """)
    #expect(noted == "activity 1 ended f f f, phone 1 Unregistered f f f, phone 2 t f t")
    #expect(
      try await session.value("select disabled_at is null from ridepulse.devices") == "t")
  }
}
