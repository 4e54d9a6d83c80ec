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
    ],
    notes: [
      "--roles gives the three roles exactly the rights in docs/sql.md, and may be repeated: do so",
      "after each upgrade. A missing role needs CREATEROLE; with --dry-run it prints SQL for psql.",
    ])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    if context.arguments.has("--check") {
      return try await Database.with(context.environment, name: "migrate", check)
    }
    let dryRun = context.arguments.has("--dry-run")
    let makesRoles = context.arguments.has("--roles")
    try await Database.with(context.environment, name: "migrate") { session in
      try await migrate(session, dryRun: dryRun, mark: makesRoles && dryRun ? "-- " : "")
      if makesRoles { try await makeRoles(session, dryRun: dryRun) }
    }
    return .done
  }

  /// Reads the schema as `serve` does, with its rights.
  private static func check(_ session: PostgresSession) async throws -> ExitStatus {
    do {
      try await Database.requireSchema(session)
    } catch let lack as MissingMigrations {
      Terminal.print(lack.description)
      return .foundProblems
    }
    Terminal.print("the schema fits")
    return .done
  }

  /// - Parameter mark: begins each line of output, such as that of a comment in SQL.
  private static func migrate(
    _ session: PostgresSession, dryRun: Bool, mark: String
  ) async throws {
    if let warning = Self.warning(try await ServerState.read(session)) {
      Terminal.printError(warning)
    }
    var progress = ProgressLine()
    defer { progress.end() }
    let reports = try await Migrations.apply(session: session, dryRun: dryRun) { step in
      progress.show("applying \(step.name) …")
    }.filter { $0.outcome != .present }
    progress.end()
    for report in reports {
      Terminal.print("\(mark)\(dryRun ? "would apply" : "applied") \(report.migration.name)")
    }
    let indexes = try await indexes(session, dryRun: dryRun)
    for line in indexes { Terminal.print(mark + line) }
    if !reports.isEmpty || !indexes.isEmpty { return }
    let newer = try await Migrations.state(session).newer
    Terminal.print(
      newer.isEmpty
        ? "\(mark)the schema is current"
        : "\(mark)the schema is newer than this program, which works with it: "
          + "\(newer.joined(separator: ", ")) is from a later one; nothing to do")
  }

  /// Builds the indexes that the steps left out; returns what was done.
  private static func indexes(_ session: PostgresSession, dryRun: Bool) async throws -> [String] {
    let build = IndexBuild(session: session)
    let missing = try await build.missing()
    if missing.isEmpty { return [] }
    let count = counted(missing.count, "index", "indexes")
    if dryRun { return ["would build \(count), without blocking writers"] }
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
    let own = counted(built, "index", "indexes")
    if !hasWaited { return ["built \(own), without blocking writers"] }
    return ["built \(own), without blocking writers; another session built the others"]
  }

  private static func makeRoles(_ session: PostgresSession, dryRun: Bool) async throws {
    if dryRun {
      for statement in RoleSetup.statements(for: session.schema) { Terminal.print(statement + ";") }
      return
    }
    do throws(PostgresError) {
      try await RoleSetup.apply(session)
    } catch {
      guard error.refusesRights else { throw error }
      throw CommandFailure(
        "the roles can't be made: \(error). Creating a role needs CREATEROLE, and granting needs the "
          + "schema's owner. As a superuser: ridepulse migrate --roles --dry-run | psql -1 \"$DATABASE_URL\""
      )
    }
    let names = session.schema.applied(
      to: Role.allCases.map(\.rawValue).joined(separator: ", "))
    Terminal.print("roles \(names) have their rights; grant them to your logins")
  }

  /// Returns a warning if the role that will own the schema has too many rights.
  static func warning(_ server: ServerState) -> String? {
    guard server.isSuperuser else { return nil }
    return """
      ridepulse: warning: role \(server.role) is a superuser. The functions of schema \(Database.schema) run \
      with their owner's rights: a flaw in one of them would give away the server. Make a role that \
      owns nothing else, and migrate under it: psql -c 'create role ridepulse_owner login' \
      -c 'grant create on database "\(server.database)" to ridepulse_owner'. docs/sql.md, Rights, \
      hands over a schema that exists.
      """
  }
}
