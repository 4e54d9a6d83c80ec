import Base
import PostgresStore
import RideCore

/// `ridepulse forget`: erases one person from the database.
enum Forget: Command {
  static let form = CommandForm(
    name: "forget", summary: "erase one person from the database",
    operands: [.init(name: "OWNER", help: "the person's owner ID, as rides and phones name it")],
    options: [
      .init(name: "--app", value: "APP", help: "erase the person in this app only (in all)"),
      .yes, .format,
    ],
    notes: [
      "Signs the person's phones out, then deletes the person's rows and removes the ID from those of",
      "others; prints how many rows of each table that were. An attached table still names the person",
      "and brings the rides back: erase there first. docs/privacy.md lists what is kept where.",
    ],
    role: nil)

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let owner = context.arguments.operands[0]
    let app = context.arguments.value("--app")
    if owner.isEmpty || app == "" { throw context.arguments.error("OWNER or APP is empty") }
    let scope = app.map { " in app \($0)" } ?? ""
    guard try context.confirms("permanently erase \(owner)\(scope)?", for: "forget", form) else {
      throw CommandFailure("nothing was erased")
    }
    let counts = try await Database.with(context.environment, name: "forget") { session in
      try await Database.requireSchema(session)
      return try await PersonErasure(session: session).erase(
        OwnerID(owner), app: app.map { App(rawValue: $0) })
    }
    let total = counts.reduce(0) { $0 + $1.rows }
    switch context.arguments.choice("--format") ?? OutputFormat.table {
    case .table:
      Terminal.print(
        CommandForm.columns(counts.map { ($0.table, "\($0.rows)") }).joined(separator: "\n"))
      Terminal.print(
        total == 0 ? "nothing named this person" : "\(counted(Int(total), "row")) erased")
    case .json: Terminal.print(json: json(counts, total, app))
    }
    return .done
  }

  /// Without the person's ID, which the caller has and no log should.
  private static func json(
    _ counts: [PersonErasure.Count], _ total: Int64, _ app: String?
  ) -> JSONValue {
    let rows = Dictionary(counts.map { ($0.table, JSONValue.integer($0.rows)) }) { $1 }
    return .object(["app": .orNull(app), "rows": .object(rows), "erased": .integer(total)])
  }
}
