import Base
import Testing

@testable import PostgresStore
@testable import RideCore

@Suite("Where claims and settlements find rows", .timeLimit(.minutes(60))) struct ClaimScanTests {
  private let conninfo: String
  private let session: PostgresSession
  private let store: PostgresRideStore

  init() async throws {
    conninfo = try await migratedDatabase()
    session = try PostgresSession(conninfo: conninfo)
    store = PostgresRideStore(
      node: "22222222-3333-8444-8555-666666666666", host: "test", apps: [.customer],
      rules: RuleSet(activeStates: [], finalStates: [], events: [], rules: []),
      lease: .seconds(600), claims: session, settlements: session, log: Log { _, _, _ in })
  }

  private func emit(_ rides: ClosedRange<Int>) async throws {
    try await session.script(
      "select ridepulse.emit('e', 'r' || n) from "
        + "generate_series(\(rides.lowerBound), \(rides.upperBound)) n")
  }

  private func claim(_ limit: Int) async throws -> Claim {
    try await store.claim(limit: limit, asleep: false)
  }

  private func settlement(_ ride: (claim: RideClaim, view: RideView)) -> ClaimedSettlement {
    let event = ride.view.events[0]
    return ClaimedSettlement(
      claim: ride.claim,
      settlement: Settlement(
        rideID: ride.claim.rideID, consumed: ride.view.events.map(\.key),
        entries: [
          LedgerEntry(
            id: PushID(of: ride.claim.rideID.text), event: event, rule: "r", app: .customer,
            pushType: .alert, status: .accepted, attempts: 1)
        ], isOver: true))
  }

  private func ids(_ claim: Claim) -> [String] { claim.rides.map(\.claim.rideID.text).sorted() }

  @Test func `a claim behind a full one is never taken for the end of the work`() async throws {
    try await emit(1...5)
    #expect(ids(try await claim(2)) == ["r1", "r2"])
    #expect(ids(try await claim(2)) == ["r3", "r4"])
    // Another session lets go of a ride that lies below the last claim.
    try await session.script(
      "update ridepulse.agenda set node = null, leased_until = '-infinity' where ride_id = 'r1'")
    let rest = try await claim(2)
    #expect(ids(rest) == ["r5"] && rest.nextDue == rest.now || ids(rest) == ["r1", "r5"])
    if ids(rest) == ["r5"] { #expect(ids(try await claim(2)) == ["r1"]) }
    #expect(ids(try await claim(2)) == [])
  }

  @Test func `what a node releases is claimed first`() async throws {
    try await emit(1...6)
    let first = try await claim(2)
    #expect(ids(try await claim(2)) == ["r3", "r4"])
    try await store.release(first.rides.map(\.claim))
    #expect(ids(try await claim(2)) == ["r1", "r2"])
  }

  @Test func `an empty claim has looked at everything`() async throws {
    try await emit(1...2)
    #expect(ids(try await claim(2)) == ["r1", "r2"])
    try await session.script(
      "update ridepulse.agenda set node = null, leased_until = '-infinity' where ride_id = 'r1'")
    #expect(ids(try await claim(2)) == ["r1"])
  }

  @Test func `a settlement finds rows that moved, and none by the ctid of another`() async throws {
    try await emit(1...6)
    var rides = try await claim(6).rides.sorted { $0.claim.rideID < $1.claim.rideID }
    #expect(rides.allSatisfy { $0.claim.rowLocation != nil })
    (rides[0].claim.rowLocation, rides[1].claim.rowLocation) = (
      rides[1].claim.rowLocation, rides[0].claim.rowLocation
    )
    rides[2].claim.rowLocation = "(4000000,7)"
    rides[3].claim.rowLocation = nil
    // The fifth row moves, and the sixth is claimed by another node at the same location.
    try await session.script(
      """
      update ridepulse.agenda set leased_until = leased_until + interval '1 s' where ride_id = 'r5';
      update ridepulse.agenda set fence = fence + 1 where ride_id = 'r6'
      """)
    let moved = try #require(
      try await session.value("select ctid from ridepulse.agenda where ride_id = 'r6'"))
    rides[5].claim.rowLocation = moved
    let result = try await store.settle(rides.map(settlement))
    #expect(result.lost.map(\.rideID) == ["r6"] && result.locked.isEmpty)
    #expect(
      try await session.value("select string_agg(ride_id, ' ') from ridepulse.agenda") == "r6")
    #expect(
      try await session.value("select string_agg(ride_id, ' ') from ridepulse.events") == "r6")
    #expect(try await session.value("select count(*) from ridepulse.ledger") == "5")
  }

  @Test func `a row that moves while a settlement runs is settled whole, or not at all`()
    async throws
  {
    try await emit(1...2)
    let rides = try await claim(2).rides.sorted { $0.claim.rideID < $1.claim.rideID }
    let other = try PostgresSession(conninfo: conninfo)
    // The settlement waits after its snapshot, and before it looks for any row.
    try await other.script(
      """
      create or replace function ridepulse.server_place(
        out system_identifier bigint, out timeline integer)
      language plpgsql stable set search_path = pg_catalog, pg_temp as $$
      begin
        perform pg_advisory_xact_lock(7);
      end
      $$;
      select pg_advisory_lock(7)
      """)
    async let settled = store.settle(rides.map(settlement))
    try await other.wait(
      until: """
        select count(*) from pg_locks join pg_database d on d.oid = database
        where not granted and d.datname = current_database()
        """, is: "1")
    try await other.script(
      """
      update ridepulse.agenda set leased_until = leased_until + interval '1 s' where ride_id = 'r1';
      select pg_advisory_unlock(7)
      """)
    let result = try await settled
    #expect(result.lost.isEmpty)
    let left = result.locked.map(\.rideID.text).joined(separator: " ")
    for table in ["agenda", "events"] {
      #expect(
        try await session.value(
          "select coalesce(string_agg(ride_id, ' '), '') from ridepulse.\(table)") == left)
    }
    // It is settled again as any other that was locked.
    _ = try await store.settle([settlement(rides[0])])
    #expect(try await session.value("select count(*) from ridepulse.agenda") == "0")
    #expect(try await session.value("select count(*) from ridepulse.ledger") == "2")
    await other.close()
  }

  @Test func `a row that the ledger has already is replaced, and the whole batch is settled`()
    async throws
  {
    try await emit(1...2)
    let rides = try await claim(2).rides
    // As after a restored table: no memo knows of the row.
    let known = settlement(rides[1]).settlement.entries[0]
    try await session.script(
      """
      insert into ridepulse.ledger (ride_id, apns_id, event, rule, app, push_type, status, attempts,
        occurred_at)
      select 'r2', '\(known.id)', 'e', 'r', 'customer', 'alert', 'pending', 7,
        timestamptz 'epoch' + \(known.event.at.microseconds) * interval '1 microsecond'
      """)
    #expect(try await store.settle(rides.map(settlement)) == SettleResult())
    #expect(
      try await session.value(
        "select string_agg(concat_ws(' ', ride_id, status, attempts), ', ' order by ride_id) "
          + "from ridepulse.ledger") == "r1 accepted 1, r2 accepted 1")
  }

  /// Returns the plan that is kept for any parameters, made while each table has one row.
  private func genericPlan(
    of statement: Statement, _ settings: Statement, parameters: Int
  ) async throws -> [String] {
    try await session.script(
      """
      insert into ridepulse.rides (id, state) values ('r', 's');
      insert into ridepulse.agenda (ride_id, due_at, fence, leased_until)
      values ('r', now(), 0, '-infinity');
      analyze;
      """)
    let nulls = Array(repeating: "null", count: parameters).joined(separator: ", ")
    let results = try await session.run([
      Call(settings), direct("set local plan_cache_mode = 'force_generic_plan'"),
      direct("prepare planned as \(statement.sql)"),
      direct("explain (costs off) execute planned (\(nulls))"),
    ])
    return (0..<results[3].rowCount).compactMap { results[3].string($0, 0) }
  }

  /// The scans that read all of a table or of an index.
  private func wholeScans(_ plan: [String]) -> [String] {
    plan.indices.filter { index in
      plan[index].contains("Seq Scan")
        || plan[index].contains("Index Scan")
          && !(index + 1 < plan.count && plan[index + 1].contains("Index Cond"))
    }.map { plan[$0] }
  }

  @Test func `the plan of a claim is kept, and looks rows up even if made for a small table`()
    async throws
  {
    let plan = try await genericPlan(
      of: ClaimStatements.claim, ClaimStatements.lookups,
      parameters: 9 + DatabasePin.none.parameters.count
    )
    // Empty, unless a node has ended while it held rides.
    .filter { !$0.contains("lost_claims") }
    #expect(wholeScans(plan).allSatisfy { $0.contains("agenda_due") }, "\(wholeScans(plan))")
    #expect(!plan.contains { $0.contains("Seq Scan") })
    let modes = try await session.run([
      Call(ClaimStatements.lookups), direct("show plan_cache_mode"),
    ])
    #expect(modes[1].string(0, 0) == "force_generic_plan")
  }

  @Test func `the plan of a settlement goes to the rows' ctids, even if made for a small table`()
    async throws
  {
    let plan = try await genericPlan(
      of: SettleStatements.settle, SettleStatements.writeSettings,
      parameters: SettleRows.tallies.last)
    #expect(plan.filter { $0.contains("Tid Scan on agenda") }.count == 4)
    #expect(wholeScans(plan).allSatisfy { !$0.contains("agenda") }, "\(wholeScans(plan))")
  }

  @Test(arguments: [
    (PhoneRead.ofPeopleWithBoth, TokenInMemo.rows.last + 1),
    (ContactRead.all.statement, RidePerson.rows.last),
    (PreferenceRead.all.statement, RidePerson.rows.last),
    (EventRead.small.statement, 2), (EventRead.all.statement, 2),
    (RideRead.smallWithEntries.statement, 1), (RideRead.withEntries.statement, 1),
    (CardRead.withOptOuts.statement, 1), (ChannelRead.all.statement, 1),
    (ReceiptRead.all.statement, 2), (ReporterRead.all.statement, RidePerson.rows.last),
  ]) func `the plan of a read looks up each of its keys, even if made for a small table`(
    read: (statement: Statement, parameters: Int)
  ) async throws {
    let plan = try await genericPlan(
      of: read.statement, ClaimStatements.lookups, parameters: read.parameters)
    #expect(wholeScans(plan) == [])
  }

  @Test func `the plan of start tokens looks up people, and the outcomes of each token`()
    async throws
  {
    let plan = try await genericPlan(
      of: StartTokenRead.withOptOuts.ofPeople, ClaimStatements.lookups,
      parameters: TokenInMemo.rows.last)
    let people = plan.filter { $0.contains("owner_id = person.owner_id") }
    #expect(people.count == 1 && people.allSatisfy { $0.contains("Index Cond") }, "\(plan)")
    let outcomes = plan.indices.filter { plan[$0].contains("on token_outcomes") }
    #expect(outcomes.count == 2)
    #expect(outcomes.allSatisfy { plan[$0 + 1].contains("token_id =") }, "\(plan)")
  }

  @Test func `no claim and no settlement is planned for its parameters`() async throws {
    try await emit(1...3)
    for _ in 1...3 {
      _ = try await store.settle(try await claim(1).rides.map(settlement))
    }
    let plans = try await session.value(
      """
      select sum(custom_plans) || ' of ' || (count(*) > 5 and sum(generic_plans) > 10)
      from pg_prepared_statements
      where statement not like '%pg_prepared_statements%' and statement like '%ridepulse.%'
      """)
    #expect(plans == "0 of true")
  }
}
