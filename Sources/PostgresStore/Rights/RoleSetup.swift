/// Creates the roles and gives each exactly what `Grants` lists.
package enum RoleSetup {
  /// The statements, in order, each on one line without a semicolon. They may be repeated.
  package static func statements(for schema: SchemaName) -> [String] {
    statements.map { schema.applied(to: $0) }
  }

  private static var statements: [String] { create + revoke + grant }

  private static let schema = "schema ridepulse"

  private static var create: [String] {
    Role.allCases.map { role in
      "do $$ begin if to_regrole('\(role.rawValue)') is null then "
        + "create role \(role.rawValue) nologin; end if; "
        // Roles belong to the server: another database may be migrated at the same time.
        + "exception when duplicate_object or unique_violation then null; end $$"
    }
  }

  /// Roles keep nothing that an earlier version granted, or that was granted by hand.
  private static var revoke: [String] {
    let roles = Role.allCases.map(\.rawValue).joined(separator: ", ")
    return [
      "all tables in \(schema)", "all sequences in \(schema)", "all functions in \(schema)", schema,
    ].map { "revoke all on \($0) from \(roles)" }
  }

  /// One statement for each role and set of privileges.
  private static var grant: [String] {
    Role.allCases.flatMap { role in
      Grant.Kind.allCases.flatMap { kind -> [String] in
        let grants = Grants.all.filter { $0.kind == kind && !$0.privileges(of: role).isEmpty }
        let sets = Set(grants.map { $0.privileges(of: role) })
          .sorted { $0.lexicographicallyPrecedes($1) }
        return sets.map { privileges in
          let names = grants.filter { $0.privileges(of: role) == privileges }.map { grant in
            kind == .schema ? grant.name : "ridepulse.\(grant.name)"
          }
          return "grant \(privileges.map(\.rawValue).joined(separator: ", ")) on \(kind.rawValue) "
            + "\(names.joined(separator: ", ")) to \(role.rawValue)"
        }
      }
    }
  }

  /// Executes the statements in one transaction, one node at a time.
  ///
  /// - Throws: `PostgresError`, also if the session's role may not create roles that are missing.
  package static func apply(_ session: PostgresSession) async throws(PostgresError) {
    let lock = "select pg_advisory_xact_lock(\(MigrationScript.lock))"
    try await session.script(([lock] + statements).joined(separator: ";\n"), timeout: .seconds(60))
  }
}
