import Base
import PostgresStore
import RideCore

/// `ridepulse hold`: keeps every node from claiming rides.
enum Hold: Command {
  static let form = CommandForm(
    name: "hold", summary: "stop all sending until release; events wait",
    options: [
      .init(name: "--reason", value: "TEXT", help: "why, for logs, /readyz, status and doctor"),
      .format, .init(name: "--yes", help: "do not ask for confirmation"),
    ],
    notes: [
      "Nodes claim no ride from then on. What they have claimed is still sent: usually within a second,",
      "within 15 s if APNs is slow. What is no longer valid after release expires, with a ledger row.",
    ])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let reason = context.arguments.value("--reason") ?? "no reason given"
    guard reason.contains(where: { !$0.isWhitespace }) else {
      throw context.arguments.error("--reason is empty")
    }
    guard try context.confirms("stop all sending of this service?", for: "hold", form) else {
      throw CommandFailure("nothing was held")
    }
    let hold = try await Database.with(context.environment, name: "hold") { session in
      try await Database.requireSchema(session)
      return try await SendingHold.begin(reason, session)
    }
    switch context.arguments.choice("--format") ?? OutputFormat.table {
    case .table:
      Terminal.print(hold.map { "sending is \($0.text)" } ?? "sending is held")
      Terminal.print(
        "nodes claim nothing from now on, and send what they had claimed, within 15 s; events wait\n"
          + "to send again: ridepulse release")
    case .json: Terminal.print(json: .object(["hold": hold?.json ?? .null]))
    }
    return .done
  }
}

/// `ridepulse release`: ends `hold`.
enum Release: Command {
  static let form = CommandForm(
    name: "release", summary: "end hold, and send what is still valid",
    options: [.format, .init(name: "--yes", help: "do not ask for confirmation")],
    notes: [
      "Prints what was held. The pin stays: a recognized copy of a database sends nothing after it, and",
      "docs/restore.md has what such a copy needs.",
    ])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let held = try await Database.with(context.environment, name: "release") {
      session -> SendingHold? in
      try await Database.requireSchema(session)
      guard let hold = try await SendingHold.read(session) else { return nil }
      let question = "send again? it is \(hold.text)"
      guard try context.confirms(question, for: "release", form) else {
        throw CommandFailure("sending stays \(hold.text)")
      }
      return try await SendingHold.end(session)
    }
    switch context.arguments.choice("--format") ?? OutputFormat.table {
    case .table:
      Terminal.print(
        held.map { "released; it was \($0.text)\nnodes claim again within seconds" }
          ?? "sending was not held")
    case .json: Terminal.print(json: .object(["was_held": held?.json ?? .null]))
    }
    return .done
  }
}
