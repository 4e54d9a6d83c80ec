/// An attached table whose live rows were not copied since it was attached.
package struct PendingTable: Hashable, Sendable {
  package var oid: String
  /// The table as SQL names it, with its schema.
  package var name: String
}

/// What the session's role may do with an attached table.
package struct BackfillRights: Hashable, Sendable {
  /// The table as SQL names it, with its schema.
  package var table: String
  package var role: String
  package var mayReadTable: Bool
  /// The table's schema, if the role has no right to use it.
  package var refusedSchema: String?
  /// Functions that a backfill calls and the role may not.
  package var missingFunctions: String?
  /// Whether the role has the rights of the table's owner.
  package var isOwner: Bool

  /// The statement that grants what is missing; nil if nothing is.
  package var grants: [String] {
    var grants: [String] = []
    let role = SQLText.identifier(role)
    if let refusedSchema {
      grants.append("grant usage on schema \(SQLText.identifier(refusedSchema)) to \(role)")
    }
    if !mayReadTable { grants.append("grant select on \(table) to \(role)") }
    if let missingFunctions {
      grants.append("grant execute on function \(missingFunctions) to \(role)")
    }
    return grants
  }

  private static let statement = Statement(
    name: "",
    sql: """
      select format('%I.%I', n.nspname, c.relname), current_user,
        has_table_privilege(c.oid, 'select'),
        (select string_agg(p.oid::regprocedure::text, ', ' order by p.proname) from pg_proc p
         where p.pronamespace = to_regnamespace('ridepulse')
           and p.proname = any ($2::text[])
           and not has_function_privilege(p.oid, 'execute')),
        pg_has_role(c.relowner, 'usage'),
        case when not has_schema_privilege(n.oid, 'usage') then n.nspname end
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.oid = case when $1::text ~ '^\\d+$' then $1::text::oid
        else $1::text::regclass end
      """)
  private static let ownerCode = Statement(
    name: "", sql: "select ridepulse.runs_owner_code($1::text::regclass)")
  private static let pending = Statement(
    name: "backfill_pending",
    sql: """
      select c.oid, format('%I.%I', n.nspname, c.relname)
      from ridepulse.watched w join pg_class c on c.oid = w."table"
      join pg_namespace n on n.oid = c.relnamespace
      where not w.is_backfilled order by 2
      """)

  /// Reads the rights; nil if there is no such table. An invalid name is an error of the server, and
  /// so is a name in a schema that the role may not use; an OID is not.
  package static func read(
    _ session: PostgresSession, table: String
  ) async throws(PostgresError) -> BackfillRights? {
    let rows = try await session.run(
      [Call(statement, [table, PostgresArray.literal(Grants.backfill)])])[0]
    guard let name = rows.string(0, 0) else { return nil }
    return BackfillRights(
      table: name, role: rows.string(0, 1) ?? "", mayReadTable: rows.bool(0, 2) ?? false,
      refusedSchema: rows.string(0, 5), missingFunctions: rows.string(0, 3),
      isOwner: rows.bool(0, 4) ?? false)
  }

  /// Whether reading the table may run code of its owner.
  package func runsOwnerCode(_ session: PostgresSession) async throws(PostgresError) -> Bool {
    try await session.run([Call(Self.ownerCode, [table])])[0].bool(0, 0) ?? true
  }

  /// Returns the attached tables whose live rows were not copied since they were attached.
  package static func pendingTables(
    _ session: PostgresSession
  ) async throws(PostgresError) -> [PendingTable] {
    let rows = try await session.run([Call(pending)])[0]
    return (0..<rows.rowCount).map {
      PendingTable(oid: rows.string($0, 0) ?? "", name: rows.string($0, 1) ?? "")
    }
  }
}
