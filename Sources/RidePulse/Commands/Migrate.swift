import Base
import PostgresStore
import RideCore

/// `ridepulse migrate`: updates the database's schema to the version of this binary.
enum Migrate: Command {
  static let form = CommandForm(
    name: "migrate", summary: "apply the schema in order; safe to run from several nodes at once",
    options: [
      .init(name: "--dry-run", help: "print what would be applied, and change nothing"),
      .init(name: "--check", help: "exit with 2 if the schema lacks a step, and change nothing"),
      .init(
        name: "--roles",
        help: "also create the roles ridepulse_app, _engine and _reader, with their rights"),
      .format,
    ],
    notes: [
      "--roles gives the three roles exactly the rights in docs/sql.md, and may be repeated: do so",
      "after each upgrade. A missing role needs CREATEROLE; with --dry-run it prints SQL for psql.",
      "json is one object; with --check, missing lists the steps.",
    ],
    role: nil)

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let format = context.arguments.choice("--format") ?? OutputFormat.table
    if context.arguments.has("--check") {
      return try await Database.with(context.environment, name: "migrate") { session in
        try await check(session, format)
      }
    }
    let dryRun = context.arguments.has("--dry-run")
    let makesRoles = context.arguments.has("--roles")
    var report = MigrateReport(
      format: format, isDry: dryRun, mark: makesRoles && dryRun ? "-- " : "")
    try await Database.with(context.environment, name: "migrate") { session in
      try await migrate(session, &report)
      if makesRoles { try await makeRoles(session, &report) }
    }
    report.end()
    return .done
  }

  /// Reads the schema as `serve` does, with its rights.
  private static func check(
    _ session: PostgresSession, _ format: OutputFormat
  ) async throws -> ExitStatus {
    let missing = try await Migrations.state(session).missing
    switch format {
    case .table:
      Terminal.print(
        missing.isEmpty ? "the schema fits" : MissingMigrations(names: missing).description)
    case .json:
      Terminal.print(json: .object(["missing": .array(missing.map { .string($0) })]))
    }
    return missing.isEmpty ? .done : .foundProblems
  }

  private static func migrate(
    _ session: PostgresSession, _ report: inout MigrateReport
  ) async throws {
    let server = try await ServerState.read(session)
    if server.isSuperuser {
      let isPending = try await !Migrations.state(session).missing.isEmpty
      if server.ownsSchema || isPending { Terminal.printError(Self.warning(server)) }
    }
    var progress = ProgressLine()
    defer { progress.end() }
    let reports = try await Migrations.apply(session: session, dryRun: report.isDry) { step in
      progress.show("applying \(step.name) …")
    }.filter { $0.outcome != .present }
    progress.end()
    for step in reports { report.add(step: step.migration.name) }
    try await buildIndexes(session, &report)
    if report.hasChanges { return }
    report.state(newer: try await Migrations.state(session).newer)
  }

  /// Builds the indexes that the steps left out.
  private static func buildIndexes(
    _ session: PostgresSession, _ report: inout MigrateReport
  ) async throws {
    let build = IndexBuild(session: session)
    let missing = try await build.missing()
    if missing.isEmpty { return }
    if report.isDry { return report.add(indexes: missing.count, hasWaited: false) }
    var progress = ProgressLine()
    defer { progress.end() }
    var (begun, hasWaited) = (0, false)
    let built = try await build.buildAll { step in
      switch step {
      case .building(let index):
        begun += 1
        progress.show("building index \(begun) of \(missing.count), \(index.name) …")
      case .waiting(let index):
        if !hasWaited {
          Terminal.printError("ridepulse: another session builds indexes; waiting until it is done")
        }
        hasWaited = true
        progress.show(
          "waiting for another session\(index.map { ", which builds \($0.name)" } ?? "") …")
      }
    }
    report.add(indexes: built, hasWaited: hasWaited)
  }

  private static func makeRoles(
    _ session: PostgresSession, _ report: inout MigrateReport
  ) async throws {
    if report.isDry { return report.add(statements: RoleSetup.statements(for: session.schema)) }
    do throws(PostgresError) {
      try await RoleSetup.apply(session)
    } catch {
      guard error.refusesRights else { throw error }
      throw CommandFailure(
        "the roles can't be made: \(error). Creating a role needs CREATEROLE, and granting needs the "
          + "schema's owner. As a superuser: ridepulse migrate --roles --dry-run | psql -1 \"$DATABASE_URL\""
      )
    }
    report.add(roles: Role.allCases.map { session.schema.applied(to: $0.rawValue) })
  }

  /// The warning for a superuser that owns the schema or will own a part of it.
  private static func warning(_ server: ServerState) -> String {
    """
    ridepulse: warning: role \(server.role) is a superuser. The functions of schema \(Database.schema) run \
    with their owner's rights: a flaw in one of them would give away the server. Make a role that \
    owns nothing else, and migrate under it: psql -c 'create role ridepulse_owner login' \
    -c 'grant create on database "\(server.database)" to ridepulse_owner'. docs/sql.md, Rights, \
    hands over a schema that exists.
    """
  }
}
