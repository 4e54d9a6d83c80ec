import Testing
import TestSupport

@testable import PostgresStore

/// What docs/compatibility.md promises of the schema: functions, views, and columns that apps may use.
@Suite("Promised SQL", .timeLimit(.minutes(60))) struct PromisedSQLTests {
  /// The functions of docs/sql.md; all others are called by RidePulse alone.
  private static let functions = """
    broadcast contact deliveries_after deliveries_cursor discard emit emit_to_people end_live_activity
    forget hold legacy_ride pause pin push raw_ride register_device register_live_activity
    register_push_to_start release resume seen set_preference share unpark unquarantine
    unregister_device unregister_push_to_start unwatch unwatch_missing watch
    """

  /// Views and tables that apps and analysts read, and what they may write.
  private static let relations = """
    deliveries entered_states parked participants quarantine retention rides settings slots watch_problems watched
    """

  /// Columns of other tables that docs/sql.md uses.
  private static let columns = """
    ledger.created_at ledger.decided_by ledger.settled_xid revisions.id revisions.rules revisions.version
    """

  private static func array(_ words: String) -> String {
    "'{" + words.split(whereSeparator: \.isWhitespace).joined(separator: ",") + "}'::name[]"
  }

  @Test func `functions, views, columns and roles`() async throws {
    let session = try PostgresSession(conninfo: try await migratedDatabase())
    let names = try await session.rows(
      """
      select format('function %s(%s) returns %s', p.proname, pg_get_function_arguments(p.oid),
        pg_get_function_result(p.oid))
      from pg_proc p
      where p.pronamespace = 'ridepulse'::regnamespace and p.proname = any (\(Self.array(Self.functions)))
      union all
      select format('%s.%s %s%s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
        ' default ' || pg_get_expr(d.adbin, d.adrelid))
      from pg_class c join pg_attribute a on a.attrelid = c.oid
      left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
      where c.relnamespace = 'ridepulse'::regnamespace and a.attnum > 0 and not a.attisdropped
        and a.attname <> 'is_only' and (c.relname = any (\(Self.array(Self.relations)))
          or c.relname || '.' || a.attname = any (\(Self.array(Self.columns))::text[]))
      """)
    await session.close()
    let roles = Role.allCases.map { "role \($0.rawValue)" }
    let channels = ["channel ridepulse_deliveries"]
    try PromisedNames.compare(names + roles + channels, with: "sql")
  }
}
