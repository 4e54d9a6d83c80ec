import Base
import PostgresStore
import RideCore

/// `ridepulse status`: shows on one screen whether the service sends.
enum Status: Command {
  static let form = CommandForm(
    name: "status", summary: "show on one screen whether the service sends, and what is in its way",
    options: [.format, .init(name: "--watch", help: "draw it again every 2 s, on a terminal")],
    notes: [
      "It reads the database, and the pin by the environment, as doctor does: last claims, due rides,",
      "holds and pauses, pushes of the last 5 minutes by app, phones lost within the last hour. Exit",
      "status 2 if nothing is sent.",
    ],
    role: .reader)

  private static let interval: Duration = .seconds(2)

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let format = context.arguments.choice("--format") ?? OutputFormat.table
    guard context.arguments.has("--watch") else {
      return try await EachCell.run(context) { print(await report($0), format, $0) }
    }
    // Fails without a choice among several cells.
    _ = try Database.conninfo(context.environment)
    guard format == .table, Terminal.isInteractive else {
      throw context.arguments.error("--watch draws a table on a terminal; leave it out")
    }
    while true {
      let report = await report(context)
      // Cleared at once with what follows: the screen does not flicker.
      let text = report.text(hasColour: Terminal.hasColour(context.environment))
      Terminal.print(styled: "\u{1b}[H\u{1b}[2J\(CivilTime.iso(MachineTime.now))\n\n\(text)")
      try await Task.sleep(for: interval)
    }
  }

  private static func report(_ context: CommandContext) async -> StatusReport {
    let environment = context.environment
    let apps = RuleState(environment).apps
    let probe = DatabaseProbe(
      environment: environment, apps: apps,
      projects: FCMSettings(environment).projects(of: apps))
    return StatusReport(await probe.livingProbes())
  }

  private static func print(
    _ report: StatusReport, _ format: OutputFormat, _ context: CommandContext
  ) -> ExitStatus {
    switch format {
    case .table:
      Terminal.print(styled: report.text(hasColour: Terminal.hasColour(context.environment)))
    case .json: Terminal.print(json: report.json)
    }
    return report.status
  }
}

/// `ridepulse nodes`: lists the nodes of the service.
enum Nodes: Command {
  static let form = CommandForm(
    name: "nodes", summary: "list the nodes with version, rules and last claim",
    options: [.format],
    notes: [
      "A node is listed for 10 minutes after its last claim. Nodes with different rules, which rolling",
      "upgrades have for minutes, are a warning of doctor.",
    ],
    role: .reader)

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    try await EachCell.run(context) { context in
      let nodes = try await Database.with(context.environment, name: "nodes") { session in
        try await Database.requireSchema(session)
        return try await LivingState.nodes(session)
      }
      switch context.arguments.choice("--format") ?? OutputFormat.table {
      case .table: Terminal.print(NodeTable(nodes: nodes).text)
      case .json: Terminal.print(json: .array(nodes.map(\.json)))
      }
      return .done
    }
  }
}
