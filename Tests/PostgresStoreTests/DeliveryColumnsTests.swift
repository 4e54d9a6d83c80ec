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
      "kind, owner_id, reason_code, ride_id, event, rule, app, push_type, status, reason, attempts, "
      + "apns_id, collapse_id, created_at, finished_at, token_suffix, seen_at, apns_unique_id"
    #expect(try await session.value(Self.columns) == names)
    let returned = """
      select string_agg(name, ', ') from pg_proc p, unnest(p.proargnames[3:]) name
      where p.oid = 'ridepulse.deliveries_after(text, integer)'::regprocedure
      """
    #expect(try await session.value(returned) == "next, " + names)
  }
}
