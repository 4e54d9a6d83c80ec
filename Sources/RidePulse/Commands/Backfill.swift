import Base
import PostgresStore
import RideCore
import RuleFiles

/// `ridepulse backfill`: copies the live rows of an attached table.
enum Backfill: Command {
  static let form = CommandForm(
    name: "backfill", summary: "copy the live rows of an attached table, in batches",
    operands: [.init(name: "TABLE", help: "the table, such as bookings or public.bookings")],
    options: [.schedules, .format],
    notes: [
      "A row is live if its state is active in the rule files. Rides that exist are refreshed, live",
      "rides whose row is gone are removed, and no phone is notified of either. Writers of the table",
      "do not wait. It may be repeated at any time; docs/attach.md describes it.",
    ])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let name = context.arguments.operands[0]
    let format = context.arguments.choice("--format") ?? OutputFormat.table
    let rules = try RuleDirectoryChoice.load(
      context.arguments.value("--schedules"), context.environment
    ).ruleSet
    return try await Database.with(context.environment, name: "backfill") { session in
      do {
        guard let rights = try await BackfillRights.read(session, table: name) else {
          throw CommandFailure("there is no table \(name); check the name and its schema")
        }
        if let reason = rights.refusal { throw refused(rights, reason) }
        try await Database.requireSchema(session)
        return try await run(rights.table, rules.activeStates, session, format)
      } catch let error as PostgresError {
        throw failure(error, name)
      }
    }
  }

  private static func run(
    _ table: String, _ active: Set<String>, _ session: PostgresSession, _ format: OutputFormat
  ) async throws -> ExitStatus {
    var progress = ProgressLine()
    defer { progress.end() }
    let counts = try await TableBackfill(session, table: table, active: active).run(isForced: true)
    {
      stored, all in
      progress.show("\(stored) of \(counted(all, "row")) …")
    }
    progress.end()
    switch format {
    case .table: report(counts ?? .init(), table)
    case .json: Terminal.print(json: json(counts ?? .init(), table))
    }
    return .done
  }

  private static func json(_ counts: TableBackfill.Counts, _ table: String) -> JSONValue {
    .object([
      "table": .string(table), "inserted": .integer(counts.inserted),
      "refreshed": .integer(counts.refreshed), "removed": .integer(counts.removed),
      "unread": .integer(counts.unread), "unmatched": .integer(counts.unmatched),
    ])
  }

  private static func refused(_ rights: BackfillRights, _ reason: String) -> CommandFailure {
    CommandFailure(
      "\(rights.table) was not backfilled: \(reason); \(rights.remedy(line(rights.table)))")
  }

  /// The command for a table, as a shell reads it.
  static func line(_ table: String) -> String { "ridepulse backfill \(ShellText.word(table))" }

  private static func report(_ counts: TableBackfill.Counts, _ table: String) {
    Terminal.print(
      "\(table): \(counted(Int(counts.inserted), "ride")) inserted, \(counts.refreshed) refreshed,"
        + " \(counts.removed) removed")
    if counts.unread > 0 {
      Terminal.print(
        "\(counted(Int(counts.unread), "row")) can't be read; select * from \(Database.schema).watch_problems"
          + " shows why")
    }
    if counts.unmatched > 0 {
      let what = counts.unmatched == 1 ? "live ride has" : "live rides have"
      Terminal.print(
        "\(counts.unmatched) \(what) no row in \(table) and were left, because IDs without a prefix"
          + " may come from elsewhere; if they are over, as the schema's owner: delete from "
          + "\(Database.schema).rides")
    }
  }

  private static func failure(_ error: PostgresError, _ table: String) -> CommandFailure {
    guard let server = error.server else {
      return CommandFailure("\(table) was not backfilled: \(error); repeat the command")
    }
    let hint =
      switch server.sqlState {
      case "42P01", "3F000": "check the name and its schema"
      case "55P03": "transactions keep rows of it locked; repeat the command when they have ended"
      default: server.hint ?? "what was copied stays; repeat the command"
      }
    return CommandFailure("\(table) was not backfilled: \(server.message); \(hint)")
  }
}
