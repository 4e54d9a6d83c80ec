import Base
import Foundation
import Testing
import TestSupport

@testable import PostgresStore
@testable import RideCore

/// When rides entered their states, as triggers record it and claims read it.
@Suite("Entered states", .timeLimit(.minutes(60))) struct EnteredStateTests {
  private let session: PostgresSession

  init() async throws {
    session = try PostgresSession(conninfo: try await migratedDatabase())
  }

  /// Returns what is recorded of a ride: each state, and whether its time is that of its last event.
  private func entries(of ride: String) async throws -> [String] {
    let result = try await session.run([
      direct(
        """
        select s.key, s.value::bigint = (
          select (extract(epoch from max(e.created_at)) * 1000000)::bigint
          from ridepulse.events e where e.ride_id = $1 and e.event = s.key)
        from ridepulse.entered_states t, jsonb_each(t.entered) s where t.ride_id = $1 order by 1
        """, [ride])
    ])[0]
    return (0..<result.rowCount).map { row in
      "\(result.string(row, 0) ?? "-") \(result.string(row, 1) ?? "-")"
    }
  }

  @Test func `each state has the time of its last event, and other changes have none`()
    async throws
  {
    try await session.script("insert into ridepulse.rides (id, state) values ('r1', 'requested')")
    #expect(try await entries(of: "r1") == ["requested t"])
    try await session.script(
      """
      update ridepulse.rides set state = 'driver_arrived';
      update ridepulse.rides set attributes = '{"a": 1}'
      """)
    #expect(try await entries(of: "r1") == ["driver_arrived t", "requested t"])
    // Entered again.
    try await session.script("update ridepulse.rides set state = 'requested'")
    #expect(try await entries(of: "r1") == ["driver_arrived t", "requested t"])
    try await session.script("update ridepulse.rides set state = null")
    #expect(try await entries(of: "r1") == ["driver_arrived t", "requested t"])
  }

  @Test(arguments: [("", false), ("repeat('x', 65)", false), ("repeat('x', 64)", true)])
  func `a state that no rule can name has no entry`(state: String, isRecorded: Bool) async throws {
    let value = state.isEmpty ? "''" : state
    try await session.script("insert into ridepulse.rides (id, state) values ('r1', \(value))")
    #expect(try await entries(of: "r1").isEmpty != isRecorded)
  }

  @Test func `the row stays small, whatever a service has as states`() async throws {
    try await session.script(
      """
      insert into ridepulse.rides (id, state) values ('r1', 's');
      do $$ begin
        for n in 1 .. 300 loop
          update ridepulse.rides set state = md5(n::text) || md5((-n)::text);
        end loop;
      end $$
      """)
    let size = try await session.value(
      """
      select pg_column_size(entered) < 17000 and entered ? (md5('300') || md5('-300'))
      from ridepulse.entered_states
      """)
    #expect(size == "t")
  }

  @Test func `entries go with their ride, and a new ride of its ID has none of them`() async throws
  {
    try await session.script("insert into ridepulse.rides (id, state) values ('r1', 'requested')")
    try await session.script(
      """
      begin;
      delete from ridepulse.rides;
      insert into ridepulse.rides (id, state) values ('r1', 'driver_arrived');
      commit
      """)
    #expect(try await entries(of: "r1") == ["driver_arrived t"])
    try await session.script("delete from ridepulse.rides")
    #expect(try await session.value("select count(*) from ridepulse.entered_states") == "0")
  }

  @Test func `rides of an attached table have entries, also of nested updates and moves`()
    async throws
  {
    try await session.script(
      """
      create table trips (id int, status text, part int, primary key (id, part))
        partition by list (part);
      create table trips_1 partition of trips for values in (1);
      create table trips_2 partition of trips for values in (2);
      select ridepulse.watch('trips',
        '{"id": {"column": "id", "prefix": "t-"}, "state": "status"}');
      insert into trips values (1, 'requested', 1);
      update trips set status = 'driver_arrived'
      """)
    #expect(try await entries(of: "t-1") == ["driver_arrived t", "requested t"])
    try await session.script("update trips set part = 2")
    #expect(try await entries(of: "t-1") == ["driver_arrived t", "requested t"])
    try await session.script("delete from trips")
    #expect(try await entries(of: "t-1") == [])
  }

  @Test func `a state that the row had when it was attached has no entry`() async throws {
    try await session.script(
      """
      create table trips (id int primary key, status text);
      insert into trips values (1, 'requested');
      select ridepulse.watch('trips',
        '{"id": {"column": "id", "prefix": "t-"}, "state": "status"}')
      """)
    _ = try await TableBackfill(session, table: "trips", active: ["requested"]).run(isForced: true)
    #expect(try await session.value("select state from ridepulse.rides") == "requested")
    #expect(try await entries(of: "t-1") == [])
    try await session.script("update trips set status = 'driver_arrived'")
    #expect(try await entries(of: "t-1") == ["driver_arrived t"])
  }

  @Test(arguments: [true, false]) func `a claim reads entries if a rule does`(reads: Bool)
    async throws
  {
    try await session.script(
      """
      insert into ridepulse.rides (id, state) values ('r1', 'requested'), ('r2', null);
      update ridepulse.rides set state = 'driver_arrived' where id = 'r1'
      """)
    var rule = Rule(
      name: "a", app: .customer, when: .on(["driver_arrived"]), what: .background,
      expires: .ofBackground, source: "a.yaml:1")
    if reads { rule.condition = try Condition("has(ride.entered.requested)") }
    let snapshot = RideSnapshot(
      session: session, apps: [.customer],
      rules: RuleSet(
        activeStates: ["requested", "driver_arrived"], finalStates: [], events: [], rules: [rule]),
      log: Log { _, _, _ in })
    var found: RideView?
    try await snapshot.rides(in: ["driver_arrived"]) { found = $0.first ?? found }
    let view = try #require(found)
    #expect(
      Set((view.ride?.entered ?? [:]).keys) == (reads ? ["requested", "driver_arrived"] : []))
    if reads {
      #expect(view.ride?.entered["driver_arrived"] == view.events.last?.at)
    }
  }
}
