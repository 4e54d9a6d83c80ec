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
}
