/// A privilege that this session's role lacks.
package struct MissingRight: Hashable, Sendable {
  /// The privilege in lower case, such as `select`.
  package var privilege: String
  /// The object as written in a GRANT: `ridepulse.agenda`, `schema ridepulse`, `function
  /// ridepulse.f()`.
  package var object: String
  /// What does not work without it, if pushes are sent nonetheless; nil if they are not.
  package var loss: String?

  package init(_ privilege: String, on object: String, loss: String? = nil) {
    self.privilege = privilege
    self.object = object
    self.loss = loss
  }

  /// Whether pushes are sent even without it.
  package var isMinor: Bool { loss != nil }
}

/// The privileges of this session's role, compared with what the role is for.
package struct RightsReport: Hashable, Sendable {
  /// `reader` for a member of that role which is no member of `engine`.
  package var role: Role
  package var missing: [MissingRight]

  package init(role: Role = .engine, missing: [MissingRight]) {
    (self.role, self.missing) = (role, missing)
  }
}

extension RightsReport {
  private static let membership = Statement(
    name: "",
    sql: """
      select coalesce(pg_has_role(to_regrole('\(Role.reader.rawValue)'), 'member'), false)
        and not coalesce(pg_has_role(to_regrole('\(Role.engine.rawValue)'), 'member'), false)
      """)

  private static let lacking = Statement(
    name: "",
    sql: """
      select need.privilege, case need.kind
          when 'schema' then 'schema ridepulse'
          when 'function' then 'function ridepulse.' || need.name || '('
            || pg_get_function_identity_arguments(p.oid) || ')'
          when 'sequence' then 'sequence ridepulse.' || need.name
          else 'ridepulse.' || need.name end, need.loss
      from unnest($1::text[], $2::text[], $3::text[], $4::text[])
        with ordinality need (kind, name, privilege, loss, number)
      left join pg_class c on c.relname = need.name and need.kind in ('table', 'sequence')
        and c.relnamespace = to_regnamespace('ridepulse')
      left join pg_proc p on p.proname = need.name and need.kind = 'function'
        and p.pronamespace = to_regnamespace('ridepulse') and p.prorettype <> 'trigger'::regtype
      where not case need.kind
        when 'schema' then has_schema_privilege(to_regnamespace('ridepulse'), need.privilege)
        when 'function' then has_function_privilege(p.oid, need.privilege)
        when 'sequence' then has_sequence_privilege(c.oid, need.privilege)
        else has_table_privilege(c.oid, need.privilege) end
      order by need.number
      """)

  /// Returns every privilege that the role lacks on existing objects; missing objects are not
  /// reported.
  ///
  /// It reads the catalog, so that it works for a role without any privilege.
  package static func read(_ session: PostgresSession) async throws(PostgresError) -> RightsReport {
    let isReader = try await session.run([Call(membership)])[0].bool(0, 0) ?? false
    let role: Role = isReader ? .reader : .engine
    let needs = Grants.all.flatMap { grant in
      grant.privileges(of: role).map { (grant: grant, privilege: $0) }
    }
    let rows = try await session.run([
      Call(
        lacking,
        [
          PostgresArray.literal(needs.map(\.grant.kind.rawValue)),
          PostgresArray.literal(needs.map(\.grant.name)),
          PostgresArray.literal(needs.map(\.privilege.rawValue)),
          PostgresArray.literal(needs.map { $0.grant.loss?.rawValue }),
        ])
    ])[0]
    return RightsReport(
      role: role,
      missing: try (0..<rows.rowCount).map { row throws(PostgresError) in
        MissingRight(
          try rows.value(row, 0), on: try rows.value(row, 1), loss: rows.string(row, 2))
      })
  }
}
