import PostgresStore
import RideCore

/// `ridepulse migrate`: updates the database's schema to the version of this binary.
enum Migrate: Command {
  static let form = CommandForm(
    name: "migrate", summary: "apply the schema in order; safe to run from several nodes at once",
    options: [.init(name: "--dry-run", help: "print what would be applied, and change nothing")])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let dryRun = context.arguments.has("--dry-run")
    let all = try await Database.with(context.environment, name: "migrate") { session in
      if let warning = Self.warning(try await ServerState.read(session)) {
        Terminal.printError(warning)
      }
      var progress = ProgressLine()
      defer { progress.end() }
      return try await Migrations.apply(session: session, dryRun: dryRun) { step in
        progress.show("applying \(step.name) …")
      }
    }
    let reports = all.filter { $0.outcome != .present }
    for report in reports {
      Terminal.print("\(dryRun ? "would apply" : "applied") \(report.migration.name)")
    }
    if reports.isEmpty { Terminal.print("the schema is current") }
    return .done
  }

  /// Returns a warning if the role that will own the schema has too many rights.
  static func warning(_ server: ServerState) -> String? {
    guard server.isSuperuser else { return nil }
    return """
      ridepulse: warning: role \(server.role) is a superuser. The functions of schema ridepulse run \
      with their owner's rights: a flaw in one of them would give away the server. Make a role that \
      owns nothing else, and migrate under it: psql -c 'create role ridepulse_owner login' \
      -c 'grant create on database "\(server.database)" to ridepulse_owner'. docs/sql.md, Rights, \
      hands over a schema that exists.
      """
  }
}
