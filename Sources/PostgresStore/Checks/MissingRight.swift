/// A privilege that the engine needs and this session's role lacks.
package struct MissingRight: Hashable, Sendable {
  /// The privilege in lower case, such as `select`.
  package var privilege: String
  /// The object as written in a GRANT: `ridepulse.agenda`, `schema ridepulse`, `function
  /// ridepulse.f()`.
  package var object: String
  /// Whether pushes are sent even without it.
  package var isMinor: Bool

  package init(_ privilege: String, on object: String, isMinor: Bool = false) {
    self.privilege = privilege
    self.object = object
    self.isMinor = isMinor
  }
}

extension MissingRight {
  /// The privileges that `serve` uses on each table, for a role that does not own them.
  private static let tables: [(name: String, privileges: [String])] = [
    ("migrations", ["select"]),
    ("rides", ["select"]),
    ("events", ["select", "delete"]),
    ("devices", ["select", "update"]),
    ("live_activities", ["select", "update"]),
    ("push_to_start_tokens", ["select", "update"]),
    ("agenda", ["select", "insert", "update", "delete"]),
    ("ledger", ["select", "insert", "update"]),
    ("nodes", ["select", "insert", "update", "delete"]),
    ("slot_counts", ["select", "insert", "update"]),
    ("timing", ["select", "insert", "update"]),
    ("channels", ["select", "insert", "update"]),
    ("channel_listings", ["select", "insert", "update"]),
    ("contacts", ["select"]),
    ("other_channels", ["select", "insert", "update", "delete"]),
    ("watched", ["select"]),
    ("watch_problems", ["select"]),
    ("token_outcomes", ["select", "insert", "update", "delete"]),
    ("current_devices", ["select"]),
    ("current_live_activities", ["select"]),
    ("current_start_tokens", ["select"]),
    ("current_channels", ["select"]),
  ]

  private static let onTables = Statement(
    name: "",
    sql: """
      select need.privilege, 'ridepulse.' || need.name, need.name in ('watched', 'watch_problems')
      from unnest($1::text[], $2::text[]) with ordinality need (name, privilege, number)
      join pg_class c on c.relname = need.name
        and c.relnamespace = to_regnamespace('ridepulse')
      where not has_table_privilege(c.oid, need.privilege)
      order by need.number
      """)

  private static let others = Statement(
    name: "",
    sql: """
      select 'usage', 'schema ridepulse', false
      where not has_schema_privilege(to_regnamespace('ridepulse'), 'usage')
      union all
      select 'usage', 'sequence ridepulse.' || c.relname, false
      from pg_class c
      where c.relnamespace = to_regnamespace('ridepulse') and c.relname = 'fence'
        and not has_sequence_privilege(c.oid, 'usage')
      union all
      select 'execute',
        'function ridepulse.' || p.proname || '(' || pg_get_function_identity_arguments(p.oid)
          || ')', p.proname in ('rotate_ledger', 'idempotent_call')
      from pg_proc p
      where p.pronamespace = to_regnamespace('ridepulse')
        and p.proname in ('emit', 'rotate_ledger', 'report_channel', 'idempotent_call')
        and not has_function_privilege(p.oid, 'execute')
      """)

  /// Returns every privilege that the role lacks on existing objects; missing objects are not
  /// reported.
  ///
  /// It reads the catalog, so that it works for a role without any privilege.
  package static func all(_ session: PostgresSession) async throws(PostgresError) -> [MissingRight]
  {
    let needs = tables.flatMap { table in table.privileges.map { (table.name, $0) } }
    let results = try await session.run([
      Call(others),
      Call(
        onTables,
        [PostgresArray.literal(needs.map(\.0)), PostgresArray.literal(needs.map(\.1))]),
    ])
    return results.flatMap { rows in
      (0..<rows.rowCount).map { row in
        MissingRight(
          rows.string(row, 0) ?? "", on: rows.string(row, 1) ?? "",
          isMinor: rows.bool(row, 2) ?? false)
      }
    }
  }
}
