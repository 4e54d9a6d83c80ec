package import RideCore

/// The state of a server, of the database, and of this session's role.
package struct ServerState: Hashable, Sendable {
  /// The version, such as `15.18`.
  package var version: String
  /// Whether the server is older than the schema requires.
  package var isTooOld: Bool
  package var database: String
  /// The database's encoding, as PostgreSQL names it.
  package var encoding: String
  /// The role's name, quoted as SQL requires.
  package var role: String
  /// Whether the role is a superuser.
  package var isSuperuser: Bool
  /// Whether the server is a standby, or transactions are read-only.
  package var isReadOnly: Bool
  /// Whether the schema of RidePulse exists, in any version.
  package var hasSchema: Bool
  /// Whether the schema exists and belongs to the role.
  package var ownsSchema = false
  /// Whether the role may create the schema.
  package var mayMakeSchema: Bool
  /// The role's `statement_timeout`; nil if there is none.
  package var statementLimit: Duration?

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
  /// Whether the database can store every text that a push may carry.
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
        (select setting from pg_settings where name = 'statement_timeout'),
        exists (select from pg_namespace
          where nspname = 'ridepulse' and nspowner = to_regrole(quote_ident(current_user)))
      """)

  /// The role's name, quoted as SQL requires, and `statement_timeout`, as SHOW prints it.
  static let statementTimeout = Statement(
    name: "statement_timeout",
    sql: "select quote_ident(current_user), current_setting('statement_timeout')")

  /// Reads the state; any role may.
  package static func read(_ session: PostgresSession) async throws(PostgresError) -> ServerState {
    let row = try await session.run([Call(statement)])[0]
    // Debian appends its package version.
    let version = row.string(0, 0)?.split(separator: " ").first.map(String.init) ?? "unknown"
    let isTooOld: Bool
    do throws(MigrationError) {
      try MigrationPlan.check(serverVersion: Int(row.int64(0, 1) ?? 0))
      isTooOld = false
    } catch {
      isTooOld = true
    }
    var facts = ServerState(
      version: version, isTooOld: isTooOld, database: try row.value(0, 2),
      encoding: try row.value(0, 7), role: try row.value(0, 3),
      isSuperuser: row.bool(0, 8) ?? false, isReadOnly: try row.value(0, 4),
      hasSchema: try row.value(0, 5), mayMakeSchema: try row.value(0, 6))
    facts.statementLimit = row.int64(0, 9).flatMap { $0 > 0 ? .milliseconds($0) : nil }
    facts.ownsSchema = try row.value(0, 10)
    return facts
  }
}

/// The number of phones of an app in one APNs environment.
package struct PhoneCount: Hashable, Sendable {
  package var app: App
  package var platform = Platform.ios
  /// The environment; nil for phones whose rows name none, and for Android.
  package var environment: APNsEnvironment?
  /// Phones that receive pushes, or would without quarantine.
  package var live: Int64
  /// The number of these that are in quarantine.
  package var quarantined: Int64

  package init(app: App, environment: APNsEnvironment?, live: Int64, quarantined: Int64 = 0) {
    self.app = app
    self.environment = environment
    self.live = live
    self.quarantined = quarantined
  }
}

extension PhoneCount {
  private static let statement = Statement(
    name: "doctor_phones",
    sql: """
      select app, environment, count(*), count(quarantined_at), platform
      from ridepulse.devices where disabled_at is null
      group by app, platform, environment order by app, platform desc, environment
      """)

  /// Counts all phones that are not disabled, ordered by app.
  package static func all(_ session: PostgresSession) async throws(PostgresError) -> [PhoneCount] {
    let rows = try await session.run([Call(statement)])[0]
    return try (0..<rows.rowCount).map { row throws(PostgresError) in
      var count = PhoneCount(
        app: try rows.value(row, 0),
        environment: rows.string(row, 1).flatMap(APNsEnvironment.init(rawValue:)),
        live: try rows.value(row, 2), quarantined: try rows.value(row, 3))
      count.platform = rows.string(row, 4).flatMap(Platform.init(rawValue:)) ?? .ios
      return count
    }
  }
}
