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
  /// The statements that grant what the role lacks.
  package var grants: [String]
  /// The owner of the table or of a partition, if that owner lacks rights of the role.
  ///
  /// Reading the table may run code of the owner, and is refused (docs/decisions/0073).
  package var lesserOwner: String?
  package var isSuperuser: Bool

  /// Why the role must not read the table; nil if it may.
  package var refusal: String? {
    if let lesserOwner {
      return "reading it may run code of its owner \(lesserOwner), who lacks rights of role \(role)"
    }
    return grants.isEmpty
      ? nil : "role \(role) lacks rights: \(grants.joined(separator: "; "))"
  }

  /// What to do about a refusal. `command` backfills the table.
  package func remedy(_ command: String) -> String {
    guard let owner = lesserOwner else {
      return "grant them, or as the owner of \(table): \(command)"
    }
    let run = "as \(owner): \(command)"
    if isSuperuser { return run }
    return "\(run); or, if \(owner) may do all that \(role) may: grant "
      + "\(SQLText.identifier(role)) to \(SQLText.identifier(owner))"
  }

  /// `lock_to_read` decides, under its lock.
  private static let statement = Statement(
    name: "",
    sql: """
      with recursive named (id) as (
        select case when $1::text ~ '^\\d+$' then $1::text::oid else $1::text::regclass end),
      parts (id) as (
        select id from named union select i.inhrelid from parts p join pg_inherits i on i.inhparent = p.id)
      select format('%I.%I', n.nspname, c.relname), current_user,
        (select pg_get_userbyid(o.relowner) from parts p join pg_class o on o.oid = p.id
         where not pg_has_role(o.relowner, current_user, 'usage')
           or not pg_has_role(o.relowner, session_user, 'usage')
         order by o.oid <> c.oid, o.oid limit 1),
        (select rolsuper from pg_roles where rolname = current_user),
        has_table_privilege(c.oid, 'select'), has_schema_privilege(n.oid, 'usage'), n.nspname,
        has_schema_privilege(e.oid, 'usage'),
        (select has_table_privilege(m.oid, 'select') from pg_class m
         where m.relnamespace = e.oid and m.relname = 'migrations'),
        (select string_agg(p.oid::regprocedure::text, ', ' order by p.proname) from pg_proc p
         where p.pronamespace = e.oid and p.proname = any ($2::text[])
           and not has_function_privilege(p.oid, 'execute'))
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      left join pg_namespace e on e.oid = to_regnamespace('ridepulse')
      where c.oid = (select id from named)
      """)
  private static let pending = Statement(
    name: "backfill_pending",
    sql: """
      select c.oid, format('%I.%I', n.nspname, c.relname)
      from ridepulse.watched w join pg_class c on c.oid = w."table"
      join pg_namespace n on n.oid = c.relnamespace
      where not w.is_backfilled or not $1::text[] <@ w.live_states order by 2
      """)

  /// Reads the rights; nil if there is no such table. An invalid name is an error of the server, and
  /// so is a name in a schema that the role may not use; an OID is not.
  package static func read(
    _ session: PostgresSession, table: String
  ) async throws(PostgresError) -> BackfillRights? {
    let rows = try await session.run(
      [Call(statement, [table, PostgresArray.literal(Grants.backfill)])])[0]
    guard let name = rows.string(0, 0) else { return nil }
    let role: String = try rows.value(0, 1)
    var objects: [String] = []
    if rows.bool(0, 5) == false {
      objects.append("usage on schema \(SQLText.identifier(try rows.value(0, 6)))")
    }
    if rows.bool(0, 4) == false { objects.append("select on \(name)") }
    if rows.bool(0, 7) == false { objects.append("usage on schema \(session.schema)") }
    if rows.bool(0, 8) == false { objects.append("select on \(session.schema).migrations") }
    if let functions = rows.string(0, 9) { objects.append("execute on function \(functions)") }
    return BackfillRights(
      table: name, role: role,
      grants: objects.map { "grant \($0) to \(SQLText.identifier(role))" },
      lesserOwner: rows.string(0, 2), isSuperuser: rows.bool(0, 3) ?? false)
  }

  /// Returns the attached tables whose live rows were not copied since they were attached, or not those
  /// of each active state.
  package static func pendingTables(
    _ session: PostgresSession, active: Set<String> = []
  ) async throws(PostgresError) -> [PendingTable] {
    let rows = try await session.run(
      [Call(pending, [PostgresArray.literal(active.sorted())])])[0]
    return try (0..<rows.rowCount).map { row throws(PostgresError) in
      PendingTable(oid: try rows.value(row, 0), name: try rows.value(row, 1))
    }
  }
}
