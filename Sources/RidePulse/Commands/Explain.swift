import PostgresStore
import RideCore

/// `ridepulse explain`: shows what happened to one ride, and why.
enum Explain: Command {
  private enum Format: String, CaseIterable {
    case table, json
  }

  static let form = CommandForm(
    name: "explain", summary: "tell one ride's story: events, decisions, pushes and verdicts",
    operands: [.init(name: "RIDE", help: "the ride's ID")],
    options: [
      .init(
        name: "--format", value: "FORMAT", choices: CommandForm.words(Format.self),
        help: "table or json (table)")
    ],
    notes: [
      "Times are the ride's own in a table, and UTC in JSON. Nothing is written: a role that may only",
      "SELECT will do. Events of which no rule speaks leave no trace once they are handled.",
    ])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let format = try form.choice(
      context.arguments.value("--format") ?? "table", "format", of: Format.self)
    let id = context.arguments.operands[0]
    let history = try await Database.with(context.environment, name: "explain") { session in
      try await RideQueries(session: session).history(of: id)
    }
    if history.isEmpty { throw CommandFailure("nothing is known of a ride \(Escape.line(id))") }
    let story = RideStory(history, of: id)
    switch format {
    case .table: Terminal.print(ExplainTable(story).text)
    case .json: Terminal.print(json: ExplainJSON.text(story))
    }
    return .done
  }
}
