import Base
import Testing

@testable import PostgresStore
@testable import RideCore

@Suite("The ledger's days", .timeLimit(.minutes(60))) struct LedgerTests {
  private let url: String
  private let session: PostgresSession
  private let partitions: LedgerPartitions

  init() async throws {
    url = try await migratedDatabase()
    session = try PostgresSession(conninfo: url)
    partitions = LedgerPartitions(session: session)
  }

  /// Creates the partition of the day `ago` days ago, with one row.
  private func makeDay(_ ago: Int, status: String = "accepted") async throws {
    try await session.script(
      """
      do $$
      declare day date := (now() at time zone 'UTC')::date - \(ago);
      begin
        execute format('create table ridepulse.ledger_%s partition of ridepulse.ledger '
          'for values from (%L) to (%L)', to_char(day, 'YYYYMMDD'), day || ' 00:00:00+00',
          (day + 1) || ' 00:00:00+00');
      end $$;
      \(row(ago, status: status))
      """)
  }

  private func row(_ ago: Int, status: String = "accepted") -> String {
    """
    insert into ridepulse.ledger (ride_id, apns_id, event, rule, app, push_type, status, attempts,
      occurred_at)
    values ('r\(ago)', gen_random_uuid(), 'e', 'r', 'customer', 'alert', '\(status)', 1,
      (date_trunc('day', now() at time zone 'UTC') + interval '1 h') at time zone 'UTC'
        - \(ago) * interval '1 day');
    """
  }

  private func day(_ ago: Int) async throws -> String {
    try await session.value(
      "select 'ledger_' || to_char((now() at time zone 'UTC')::date - \(ago), 'YYYYMMDD')") ?? ""
  }

  private func days() async throws -> Int {
    let count = try await session.value(
      "select count(*) from pg_inherits where inhparent = 'ridepulse.ledger'::regclass")
    return Int(count ?? "") ?? 0
  }

  private func partition(of ride: String) async throws -> String? {
    try await session.value(
      "select tableoid::regclass::text from ridepulse.ledger where ride_id = $1", [ride])
  }

  @Test func `a missing day is seen, also if later days have partitions`() async throws {
    #expect(try await LivingState.read(session).ledger.ahead == 7)
    try await session.script("drop table ridepulse.\(try await day(-1))")
    #expect(try await LivingState.read(session).ledger.ahead == 0)
    _ = try await partitions.rotate()
    #expect(try await LivingState.read(session).ledger.ahead == 7)
  }

  @Test func `R41: days past retention are dropped whole, but for those with a pending push`()
    async throws
  {
    try await makeDay(40)
    try await makeDay(35, status: "pending")
    try await makeDay(29)
    let actions = try await partitions.rotate()
    #expect(
      actions == [
        .init(action: "dropped", object: try await day(40)),
        .init(action: "kept, a push is pending:", object: try await day(35)),
      ])
    let rides = "select string_agg(ride_id, ' ' order by ride_id) from ridepulse.deliveries"
    #expect(try await session.value(rides) == "r29 r35")
    try await session.script("update ridepulse.ledger set status = 'expired'")
    #expect(
      try await partitions.rotate() == [.init(action: "dropped", object: try await day(35))])
    #expect(try await session.value(rides) == "r29")
    try await session.script("update ridepulse.retention set ledger = '7 days'")
    #expect(
      try await partitions.rotate() == [.init(action: "dropped", object: try await day(29))])
    #expect(try await partitions.rotate() == [])
  }

  @Test func `R41: the days to come are made, with what has come too early`() async throws {
    // Yesterday, today, the next seven days, and the default partition.
    #expect(try await days() == 10)
    try await session.script("drop table ridepulse.\(try await day(-7))")
    try await session.script(row(-7))
    #expect(try await partition(of: "r-7") == "ridepulse.ledger_default")
    #expect(try await partitions.rotate() == [.init(action: "made", object: try await day(-7))])
    #expect(try await partition(of: "r-7") == "ridepulse.\(try await day(-7))")
    // Current rows in the default partition prevent the creation of today's partition.
    try await session.script("drop table ridepulse.\(try await day(0)); \(row(0))")
    #expect(
      try await partitions.rotate() == [
        .init(
          action: "not made, ledger_default has rows of it:", object: try await day(0))
      ])
    #expect(try await partition(of: "r0") == "ridepulse.ledger_default")
  }

  @Test func `R41: a settlement of any time has a place, and its next attempt finds it`()
    async throws
  {
    let store = try makeStore()
    let year: Int64 = 365 * 86400
    let times = [0, year, 1_800_000_000, 7000 * year, -1900 * year].map {
      Timestamp(epochSeconds: $0)
    }
    for attempt in 1...2 {
      try await session.script("select ridepulse.emit('e', 'r1')")
      let claim = try await store.claim(limit: 10, asleep: false)
      let claimed = try #require(claim.rides.first)
      var settlement = Settlement(
        rideID: "r1", consumed: claimed.view.events.map(\.key))
      for (index, time) in times.enumerated() {
        settlement.entries.append(
          LedgerEntry(
            id: PushID(of: "\(index)"), event: RideEvent(id: 7, name: "e", at: time), rule: "r",
            app: .customer, pushType: .alert, status: attempt == 1 ? .pending : .accepted,
            attempts: attempt))
      }
      let lost = try await store.settle([
        ClaimedSettlement(claim: claimed.claim, settlement: settlement)
      ])
      #expect(lost == SettleResult())
    }
    let rows = "select count(*) || ' ' || min(status) || ' ' || min(attempts) from ridepulse.ledger"
    #expect(try await session.value(rows) == "5 accepted 2")
  }

  @Test func `R102: the ID of Apple's console is kept until an answer has another`() async throws {
    let store = try makeStore()
    for (attempt, id) in [(1, "u-1"), (2, nil), (3, "u-3")] as [(Int, String?)] {
      try await session.script("select ridepulse.emit('e', 'r1')")
      let claimed = try #require(try await store.claim(limit: 1, asleep: false).rides.first)
      var entry = LedgerEntry(
        id: PushID(of: "1"), event: RideEvent(id: 7, name: "e", at: Timestamp(epochSeconds: 0)),
        rule: "r", app: .customer, pushType: .alert, status: .accepted, attempts: attempt)
      entry.uniqueID = id
      let settlement = Settlement(
        rideID: "r1", consumed: claimed.view.events.map(\.key), entries: [entry])
      let lost = try await store.settle([
        ClaimedSettlement(claim: claimed.claim, settlement: settlement)
      ])
      #expect(lost == SettleResult())
      let shown = "select apns_unique_id from ridepulse.deliveries"
      #expect(try await session.value(shown) == (attempt == 3 ? "u-3" : "u-1"))
    }
  }

  @Test func `R41: a settlement looks at no day, and writes to those of its rows`() async throws {
    for ago in 2..<40 { try await makeDay(ago) }
    let store = try makeStore()
    let arguments = SettleRows.parameters(node: Self.node, []).map { text in
      text.map { "'\($0)'" } ?? "null"
    }
    try await session.script(
      "prepare settle as \(SettleStatements.settle.sql); set plan_cache_mode = force_generic_plan")
    _ = try await session.run([Call(SettleStatements.writeSettings)])
    let plan = try await session.run([
      direct("explain execute settle (\(arguments.joined(separator: ",")))")
    ])[0]
    let lines = (0..<plan.rowCount).compactMap { plan.string($0, 0) }
    #expect(lines.contains { $0.contains("Insert on ledger") })
    #expect(!lines.contains { $0.contains("ledger_2") }, "\(lines.joined(separator: "\n"))")
    // Only the partition of its row is locked: for forty, every settlement would use the shared
    // lock table.
    try await session.script("select ridepulse.emit('e', 'r1')")
    let claimed = try #require(try await store.claim(limit: 1, asleep: false).rides.first)
    var settlement = Settlement(
      rideID: "r1", consumed: claimed.view.events.map(\.key))
    settlement.entries = [
      LedgerEntry(
        id: PushID(of: "1"), event: claimed.view.events[0], rule: "r", app: .customer,
        pushType: .alert, status: .accepted, attempts: 1)
    ]
    let batch = [ClaimedSettlement(claim: claimed.claim, settlement: settlement)]
    let results = try await session.run([
      Call(SettleStatements.writeSettings),
      Call(SettleStatements.settle, SettleRows.parameters(node: Self.node, batch)),
      direct(
        """
        select string_agg(relname, ' ') from pg_locks join pg_class c on relation = c.oid
        where pid = pg_backend_pid() and relkind = 'r' and relname ~ '^ledger_'
        """),
    ])
    #expect(results[2].string(0, 0) == (try await day(0)))
    #expect(try await partition(of: "r1") == "ridepulse.\(try await day(0))")
  }

  @Test func `R41: tending waits for nobody, and nobody for it`() async throws {
    try await makeDay(40)
    let other = try PostgresSession(conninfo: url)
    let pid = try await other.value("select pg_backend_pid()") ?? ""
    let reader = other.begin("select count(*) from ridepulse.ledger, pg_sleep(600)")
    try await waitUntilAsleep(pid)
    let actions = try await partitions.rotate()
    #expect(
      actions == [.init(action: "in use, left for the next time:", object: try await day(40))])
    try await session.script(row(0))
    _ = try await session.value("select pg_cancel_backend($1::int)", [pid])
    _ = await reader.value
    // If two nodes rotate at once, one of them does the work.
    let node = other.begin(
      "select count(*) from ridepulse.rotate_ledger(), pg_sleep(case when action <> '' then 600 end)"
    )
    try await waitUntilAsleep(pid)
    #expect(try await partitions.rotate() == [])
    _ = try await session.value("select pg_cancel_backend($1::int)", [pid])
    _ = await node.value
    #expect(try await partitions.rotate() == [.init(action: "dropped", object: try await day(40))])
    await other.close()
  }

  @Test func `R38: a parked ride and its events are not due`() async throws {
    let store = try makeStore()
    try await session.script("select ridepulse.emit('e', 'r1'), ridepulse.emit('e', 'r2')")
    let claimed = try #require(try await store.claim(limit: 1, asleep: false).rides.first)
    #expect(try await store.dueRides(atMost: 10) == 2)
    try await session.script("update ridepulse.agenda set due_at = now()")
    try await store.park(claimed.claim, reason: "refused")
    #expect(try await store.dueRides(atMost: 10) == 1)
  }

  @Test func `R38: what was parked goes when its retention is over`() async throws {
    try await session.script(
      """
      select ridepulse.emit('e', id) from unnest(array['old', 'new', 'live']) id;
      update ridepulse.events set created_at = now() - interval '40 days';
      insert into ridepulse.agenda (ride_id, fence, leased_until, parked_reason, parked_at)
      select id, 0, 'infinity', reason, now() - age * interval '1 day'
      from (values ('old', 'bad', 31), ('new', 'bad', 29), ('live', null, null))
        rows (id, reason, age)
      """)
    #expect(try await partitions.rotate() == [.init(action: "deleted", object: "1 parked rides")])
    let rides = "select string_agg(ride_id, ' ' order by ride_id) from ridepulse."
    #expect(try await session.value(rides + "agenda") == "live new")
    #expect(try await session.value(rides + "events") == "live new")
  }

  /// Waits until the backend sleeps; its locks are held by then, which a running query does not
  /// prove.
  private func waitUntilAsleep(_ pid: String) async throws {
    let asleep = "select wait_event = 'PgSleep' from pg_stat_activity where pid = $1::int"
    try await session.wait(until: asleep, [pid], is: "t")
  }

  @Test func `R41: what has no day, and the counts of slots, go by retention too`() async throws {
    try await session.script(
      """
      \(row(100)) \(row(101, status: "pending")) \(row(102))
      update ridepulse.ledger set created_at = now() - interval '31 days' where ride_id <> 'r102';
      insert into ridepulse.slot_counts
      select 'r', now()::date - n, gen_random_uuid(), 0, 0, 0, 0, 0, 0
      from unnest(array[1, 29, 33, 400]) n;
      """)
    #expect(
      try await partitions.rotate() == [
        .init(action: "deleted", object: "2 of slot_counts"),
        .init(action: "deleted", object: "1 of ledger_default"),
      ])
    #expect(try await session.value("select count(*) from ridepulse.slot_counts") == "2")
    let rides = "select string_agg(ride_id, ' ' order by ride_id) from ridepulse.deliveries"
    #expect(try await session.value(rides) == "r101 r102")
    await #expect(throws: PostgresError.self) {
      try await session.value("select ridepulse.rotate_ledger('1 h')")
    }
  }

  private static let node = "11111111-2222-8333-8444-555555555555"

  @Test func `R41: a drop that a later lock would undo stays, as reported`() async throws {
    try await makeDay(40)
    try await makeDay(35)
    let reader = try PostgresSession(conninfo: url)
    let pid = try await reader.value("select pg_backend_pid()") ?? ""
    let reading = reader.begin(
      "select pg_sleep(600) from ridepulse.\(try await day(35)) limit 1")
    try await session.waitUntilSleeping(pid)
    let actions = try await partitions.rotate()
    #expect(
      actions == [
        .init(action: "dropped", object: try await day(40)),
        .init(action: "in use, left for the next time:", object: try await day(35)),
      ])
    #expect(
      try await session.value("select to_regclass('ridepulse.' || $1)", [try await day(40)]) == nil)
    _ = try await session.value("select pg_terminate_backend($1::int)", [pid])
    _ = await reading.value
    await reader.close(limit: .zero)
  }

  @Test func `R41: a node that names no edition of the schema claims no ride`() async throws {
    let error = await #expect(throws: PostgresError.self) {
      try await session.script(
        """
        insert into ridepulse.nodes as n (node, host, asleep, seen_at)
        values (gen_random_uuid(), 'h', true, now())
        """)
    }
    #expect(error?.server?.sqlState == "23502")
  }

  private func makeStore() throws -> PostgresRideStore {
    PostgresRideStore(
      node: Self.node, host: "test", apps: [.customer],
      rules: RuleSet(activeStates: [], finalStates: [], events: [], rules: []),
      lease: .seconds(600), claims: session, settlements: session, log: Log { _, _, _ in })
  }
}
