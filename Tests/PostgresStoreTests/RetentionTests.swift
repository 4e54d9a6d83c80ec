import TestSupport
import Testing

@testable import PostgresStore

/// Tests of the deletion of old rows.
@Suite("Retention", .timeLimit(.minutes(60))) struct RetentionTests {
  private let url: String
  private let session: PostgresSession
  private let sweep: RetentionSweep

  init() async throws {
    url = try await migratedDatabase()
    session = try PostgresSession(conninfo: url)
    sweep = RetentionSweep(session: session)
  }

  private func names(_ table: String, _ column: String) async throws -> String? {
    try await session.value(
      "select string_agg(\(column), ' ' order by \(column)) from ridepulse.\(table)")
  }

  /// Adds rows of each table: those whose name begins with `old` are to go.
  private static let rows = """
    insert into ridepulse.rides (id, state, updated_at, pickup_at) values
      ('old', 'over', now() - interval '31 days', null),
      ('young', 'over', now() - interval '29 days', null),
      ('later', 'booked', now() - interval '31 days', now() + interval '60 days'),
      ('live', 'over', now() - interval '31 days', null),
      ('waiting', 'over', now() - interval '31 days', null);
    delete from ridepulse.events where ride_id <> 'waiting';
    insert into ridepulse.agenda (ride_id, fence, leased_until) values ('live', 1, '-infinity');
    insert into ridepulse.contacts values
      ('customer', 'old', now() - interval '271 days'), ('customer', 'seen', now());
    insert into ridepulse.installation_contacts values
      ('customer', 'old', 'i', now() - interval '271 days'), ('customer', 'seen', 'i', now());
    insert into ridepulse.preferences values
      ('customer', 'old gone', 't', false, now() - interval '271 days'),
      ('customer', 'gone', 't', false, now() - interval '269 days'),
      ('customer', 'young', 't', false, now() - interval '271 days');
    insert into ridepulse.permits values
      (gen_random_uuid(), 'customer', 'old', 't', true, now(), now() - interval '1 s',
        'topic', 'r'),
      (gen_random_uuid(), 'customer', 'young', 't', true, now(), now() + interval '1 h',
        'topic', 'r');
    insert into ridepulse.devices
      (app, owner_id, token, registered_at, disabled_at, disabled_reason) values
      ('customer', 'old', '01', now() - interval '271 days', null, null),
      ('customer', 'seen', '02', now() - interval '271 days', null, null),
      ('customer', 'young', '03', now() - interval '269 days', null, null),
      ('customer', 'old off', '04', now(), now() - interval '91 days', 'Unregistered'),
      ('customer', 'off', '05', now(), now() - interval '89 days', 'Unregistered'),
      ('customer', 'old legacy', '06', '-infinity', null, null),
      ('customer', 'legacy', '07', '-infinity', null, null);
    insert into ridepulse.ledger (ride_id, apns_id, event, rule, app, push_type, status, attempts,
      occurred_at)
    values (ridepulse.legacy_ride('customer', '07'), gen_random_uuid(), 'legacy_push', 'legacy',
      'customer', 'alert', 'accepted', 1, now());
    insert into ridepulse.live_activities
      (ride_id, app, owner_id, activity_id, token, registered_at, ended_at, ended_reason) values
      ('r', 'customer', 'c', 'old', '01', now(), now() - interval '8 days', 'ended'),
      ('r', 'customer', 'c', 'young', '02', now(), now() - interval '6 days', 'ended'),
      ('r', 'customer', 'c', 'old open', '03', now() - interval '9 days', null, null),
      ('r', 'customer', 'c', 'live', '04', now(), null, null);
    insert into ridepulse.push_to_start_tokens
      (app, owner_id, attributes_type, token, registered_at, disabled_at) values
      ('customer', 'c', 'old', '01', now() - interval '271 days', null),
      ('customer', 'c', 'old off', '02', now(), now() - interval '8 days'),
      ('customer', 'c', 'off', '03', now(), now() - interval '6 days'),
      ('customer', 'c', 'valid', '04', now() - interval '269 days', null);
    insert into ridepulse.watch_errors values
      ('pg_class', 'old', 'p', null, null, 1, now(), now() - interval '31 days'),
      ('pg_class', 'young', 'p', null, null, 1, now(), now());
    insert into ridepulse.idempotency_keys values
      ('old', '', 200, '', now() - interval '25 h'), ('young', '', 200, '', now());
    insert into ridepulse.nodes values
      (gen_random_uuid(), 'old', false, now() - interval '25 h', 7),
      (gen_random_uuid(), 'young', false, now(), 7);
    insert into ridepulse.channels (app, environment, bundle_id, channel_id, storage, request_id,
      confirmed_at, deleted_at) values
      ('customer', 'production', 'b', 'old', 'none', gen_random_uuid(), now(),
        now() - interval '91 days'),
      ('customer', 'production', 'b', 'young', 'none', gen_random_uuid(), now(), null)
    """

  @Test func `R79: each table loses what is old, and nothing else`() async throws {
    try await session.script(Self.rows)
    let deleted = try await sweep.run()
    #expect(
      deleted.map { "\($0.table) \($0.rows)" } == [
        "rides 1", "live_activities 2", "push_to_start_tokens 2", "devices 3", "contacts 1",
        "channels 1", "watch_errors 1", "nodes 1", "idempotency_keys 1",
        "preferences 1", "permits 1", "installation_contacts 1",
      ])
    #expect(try await names("preferences", "owner_id") == "gone young")
    #expect(try await names("permits", "owner_id") == "young")
    #expect(try await names("rides", "id") == "later live waiting young")
    #expect(try await names("devices", "owner_id") == "legacy off seen young")
    #expect(try await names("live_activities", "activity_id") == "live young")
    #expect(try await names("push_to_start_tokens", "attributes_type") == "off valid")
    #expect(try await names("contacts", "owner_id") == "seen")
    #expect(try await names("installation_contacts", "owner_id") == "seen")
    #expect(try await names("watch_errors", "column_name") == "young")
    #expect(try await names("idempotency_keys", "key") == "young")
    #expect(try await names("nodes", "host") == "young")
    #expect(try await names("channels", "channel_id") == "young")
    #expect(try await sweep.run().isEmpty)
    try await session.script("update ridepulse.retention set rides = '28 days'")
    #expect(try await sweep.run().map(\.table) == ["rides"])
  }

  @Test func `R79: a large table is read in slices, over a day`() async throws {
    try await session.script(
      """
      insert into ridepulse.rides (id, updated_at)
      select 'r' || n, now() - interval '31 days' from generate_series(1, 20000) n
      """)
    func slice() async throws -> String? {
      try await session.value(
        "select deleted > 0 and deleted < 10000, is_behind from ridepulse.sweep('rides', 8)")
    }
    let page = "select next_page from ridepulse.sweeps where name = 'rides'"
    #expect(try await slice() == "t")
    #expect(try await session.value(page) == "8")
    // An hour's share of the table is more than this slice.
    #expect(
      try await session.value("select is_behind from ridepulse.sweep('rides', 1)") == "f")
    try await session.script(
      "update ridepulse.sweeps set began_at = now() - interval '20 h' where name = 'rides'")
    #expect(try await session.value("select is_behind from ridepulse.sweep('rides', 1)") == "t")
    _ = try await sweep.run()
    #expect(try await session.value("select count(*) from ridepulse.rides") == "0")
    #expect(try await session.value(page) == "0")
  }

  @Test func `R79: a row that a transaction holds is left for the next time`() async throws {
    try await session.script(Self.rows)
    let other = try PostgresSession(conninfo: url)
    let holding = other.begin(
      """
      with held as (select from ridepulse.rides where id = 'old' for update)
      select pg_sleep(600) from held
      """)
    try await wait(until: "the row is held") {
      try await session.value(
        "select count(*) from (select from ridepulse.rides for update skip locked) r") == "4"
    }
    #expect(try await sweep.run().contains { $0.table == "rides" } == false)
    await other.close(limit: .zero)
    _ = await holding.value
    try await wait(until: "the row is free") {
      try await sweep.run().map(\.table) == ["rides"]
    }
  }

  @Test func `R79: nothing is kept for less than a day, and contacts as long as phones`()
    async throws
  {
    for change in ["rides = '23 h'", "cards = '0'", "contacts = '100 days'"] {
      await #expect(throws: PostgresError.self) {
        try await session.script("update ridepulse.retention set \(change)")
      }
    }
  }

  @Test func `R78: a problem of an attached table does not wait for an erasure`() async throws {
    let record =
      "select ridepulse.record_watch_error('ridepulse.rides', 'c', 'missing_column', 'c1', 'd')"
    let recorded = "select count || ' ' || coalesce(row_id, '-') from ridepulse.watch_errors"
    try await session.script(record)
    let other = try PostgresSession(conninfo: url)
    try await session.script("select pg_advisory_lock(7)")
    let open = Task {
      try await other.script(
        "begin; select ridepulse.forget('c1'); select pg_advisory_xact_lock(7); commit")
    }
    try await session.wait(until: waitingForAdvisoryLock, is: "1")
    try await session.script("set local lock_timeout = '1s'; " + record)
    #expect(try await session.value(recorded) == "1 c1")
    try await session.script("select pg_advisory_unlock(7)")
    try await open.value
    #expect(try await session.value(recorded) == "1 -")
    try await session.script(record)
    #expect(try await session.value(recorded) == "2 c1")
    await other.close()
  }
}
