/// What a server says of itself, of the database, and of this session's role.
package struct ServerState: Hashable, Sendable {
  /// Such as `15.18`.
  package var version: String
  /// Older than what the schema needs.
  package var isTooOld: Bool
  /// The database's name.
  package var database: String
  /// The database's encoding, as Postgres names it.
  package var encoding: String
  /// The role's name, as it stands in SQL.
  package var role: String
  /// The role may do anything.
  package var isSuperuser: Bool
  /// A standby, or told to take no writes.
  package var isReadOnly: Bool
  /// There is a schema of RidePulse, of whatever age.
  package var hasSchema: Bool
  /// The role may make it.
  package var mayMakeSchema: Bool
  /// When the server ends a statement of this role; nil: never.
  package var statementLimit: Duration?

  /// What a server says of itself.
  package init(
    version: String, isTooOld: Bool, database: String, encoding: String = "UTF8", role: String,
    isSuperuser: Bool = false, isReadOnly: Bool, hasSchema: Bool, mayMakeSchema: Bool
  ) {
    self.version = version
    self.isTooOld = isTooOld
    self.database = database
    self.encoding = encoding
    self.role = role
    self.isSuperuser = isSuperuser
    self.isReadOnly = isReadOnly
    self.hasSchema = hasSchema
    self.mayMakeSchema = mayMakeSchema
  }
}

extension ServerState {
  /// The database holds every text that a push may carry.
  package var holdsUnicode: Bool { encoding == "UTF8" }

  private static let statement = Statement(
    name: "",
    sql: """
      select current_setting('server_version'), current_setting('server_version_num'),
        current_database(), quote_ident(current_user),
        pg_is_in_recovery() or current_setting('transaction_read_only')::bool,
        to_regnamespace('ridepulse') is not null,
        has_database_privilege(current_database(), 'create'), current_setting('server_encoding'),
        (select rolsuper from pg_roles where rolname = current_user),
        (select setting from pg_settings where name = 'statement_timeout')
      """)

  /// The role, as it stands in SQL, and `statement_timeout`, as SHOW prints it.
  static let statementTimeout = Statement(
    name: "statement_timeout",
    sql: "select quote_ident(current_user), current_setting('statement_timeout')")

  /// Asks for them; any role may.
  package static func read(_ session: PostgresSession) async throws(PostgresError) -> ServerState {
    let row = try await session.run([Call(statement)])[0]
    // Debian adds where it was built.
    let version = row.string(0, 0)?.split(separator: " ").first.map(String.init) ?? "unknown"
    let isTooOld: Bool
    do throws(MigrationError) {
      try MigrationPlan.check(serverVersion: Int(row.int64(0, 1) ?? 0))
      isTooOld = false
    } catch {
      isTooOld = true
    }
    var facts = ServerState(
      version: version, isTooOld: isTooOld, database: row.string(0, 2) ?? "",
      encoding: row.string(0, 7) ?? "", role: row.string(0, 3) ?? "",
      isSuperuser: row.bool(0, 8) ?? false, isReadOnly: row.bool(0, 4) ?? false,
      hasSchema: row.bool(0, 5) ?? false, mayMakeSchema: row.bool(0, 6) ?? false)
    facts.statementLimit = row.int64(0, 9).flatMap { $0 > 0 ? .milliseconds($0) : nil }
    return facts
  }
}
