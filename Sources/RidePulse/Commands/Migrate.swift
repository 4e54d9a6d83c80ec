import PostgresStore
import RideCore

/// `ridepulse migrate`: bring the database's schema to this binary's.
enum Migrate: Command {
  static let form = CommandForm(
    name: "migrate", summary: "apply the schema in order; safe to run from several nodes at once",
    options: [.init(name: "--dry-run", help: "say what would be applied, and change nothing")])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let session = try await Database.session(
      Database.conninfo(context.environment), name: "migrate")
    let dryRun = context.arguments.has("--dry-run")
    let result: Result<[MigrationReport], any Error>
    do {
      result = .success(try await Migrations.apply(session: session, dryRun: dryRun))
    } catch {
      result = .failure(error)
    }
    await session.close()
    let reports = try result.get().filter { $0.outcome != .present }
    for report in reports {
      Terminal.print("\(dryRun ? "would apply" : "applied") \(report.migration.name)")
    }
    if reports.isEmpty { Terminal.print("the schema is current") }
    return .done
  }
}
