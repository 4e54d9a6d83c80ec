import TestSupport
import Testing

@testable import PostgresStore

@Suite(.timeLimit(.minutes(60))) struct DeliveryColumnsTests {
  private let session: PostgresSession

  init() async throws {
    session = try PostgresSession(conninfo: try await makeDatabase())
  }

  private static let columns = """
    select string_agg(attname, ', ' order by attnum) from pg_attribute
    where attrelid = 'ridepulse.deliveries'::regclass and attnum > 0
    """

  @Test func `deliveries and deliveries_after have the contract's columns in its order`()
    async throws
  {
    _ = try await Migrations.apply(session: session)
    let names =
      "kind, owner_id, platform, reason_code, ride_id, event, rule, app, push_type, status, reason, "
      + "attempts, apns_id, collapse_id, created_at, finished_at, token_suffix, seen_at, apns_unique_id"
    #expect(try await session.value(Self.columns) == names)
    let returned = """
      select string_agg(name, ', ') from pg_proc p, unnest(p.proargnames[3:]) name
      where p.oid = 'ridepulse.deliveries_after(text, integer)'::regprocedure
      """
    #expect(try await session.value(returned) == "next, " + names)
  }

  @Test func `platform is the phone's, and null without one or once its row is deleted`()
    async throws
  {
    _ = try await Migrations.apply(session: session)
    try await session.script(
      """
      insert into ridepulse.devices (app, owner_id, token, platform)
      values ('customer', 'c1', 'ab', 'ios'), ('customer', 'c1', 'cD:x', 'android');
      insert into ridepulse.ledger (ride_id, apns_id, event, rule, app, push_type, status, attempts,
        occurred_at, finished_at, device_id)
      select 'r' || n, gen_random_uuid(), 'e', 'a', 'customer', 'alert', 'accepted', 1,
        now(), now(), nullif(n, 4)
      from generate_series(1, 4) n
      """)
    for source in ["ridepulse.deliveries", "ridepulse.deliveries_after()"] {
      // Those of older transactions of the cluster come first.
      try await wait(until: "all rows are in \(source)") {
        try await session.rows("select ride_id, platform from \(source) order by ride_id")
          == ["r1 ios", "r2 android", "r3 -", "r4 -"]
      }
    }
  }

  @Test func `an erased person is in neither, in the app of the erasure alone`() async throws {
    _ = try await Migrations.apply(session: session)
    try await session.script(
      """
      insert into ridepulse.ledger (ride_id, apns_id, event, rule, app, push_type, status, attempts,
        occurred_at, finished_at, owner_id)
      select 'r' || n, gen_random_uuid(), 'e', 'a', app, type, 'accepted', 1, now(), now(), owner
      from (values (1, 'customer', 'alert', 'c1'), (2, 'customer', 'post', 'c1'),
        (3, 'driver', 'alert', 'c1'), (4, 'customer', 'alert', 'c2')) v (n, app, type, owner);
      select ridepulse.forget('c1', 'customer')
      """)
    try await expect(["r1 -", "r2 -", "r3 c1", "r4 c2"])
    try await session.script("select ridepulse.forget('c1')")
    try await expect(["r1 -", "r2 -", "r3 -", "r4 c2"])
  }

  @Test func `what is older than the ledger is kept is in neither`() async throws {
    _ = try await Migrations.apply(session: session)
    try await session.script(
      """
      insert into ridepulse.ledger (ride_id, apns_id, event, rule, app, push_type, status, attempts,
        occurred_at, created_at, finished_at, owner_id)
      select 'r' || days, gen_random_uuid(), 'e', 'a', 'customer', 'alert', 'accepted', 1,
        now() - make_interval(days => days), now() - make_interval(days => days),
        now() - make_interval(days => days), 'c1'
      from unnest(array[1, 32]) days
      """)
    try await expect(["r1 c1", "r32 c1"])
    try await session.script("select ridepulse.rotate_ledger()")
    try await expect(["r1 c1"])
  }

  /// Expects these rides with their people in the view and in the feed.
  private func expect(_ rows: [String]) async throws {
    for source in ["ridepulse.deliveries", "ridepulse.deliveries_after()"] {
      try await wait(until: "\(rows) are in \(source)") {
        try await session.rows("select ride_id, owner_id from \(source) order by ride_id") == rows
      }
    }
  }
}
