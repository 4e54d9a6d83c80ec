import Base
import PostgresStore
import RideCore

/// `ridepulse discard`: ends wrong events that no node has handled.
enum Discard: Command {
  static let form = CommandForm(
    name: "discard", summary: "end wrong events that no node has handled",
    operands: [.init(name: "EVENT", help: "the event, such as driver_arrived")],
    options: [
      .init(name: "--since", value: "TIME", isRequired: true, help: "emitted from then on"),
      .init(name: "--until", value: "TIME", help: "emitted before then (now)"),
      .init(name: "--dry-run", help: "print their number, and change nothing"), .format,
      .init(name: "--yes", help: "do not ask for confirmation"),
    ],
    notes: [
      "Each event gets a row in the ledger: suppressed, discarded, and by whom. What nodes hold is waited",
      "for, up to 30 s; what they have sent is not called back. Hold sending first: ridepulse hold.",
    ])

  private static let patience: Duration = .seconds(30)

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let arguments = context.arguments
    guard let since = try arguments.time("--since") else {
      throw arguments.error("--since TIME is missing")
    }
    let until = try arguments.time("--until")
    if let until, until <= since { throw arguments.error("--until is not after --since") }
    let event = arguments.operands[0]
    return try await Database.with(context.environment, name: "discard") { session in
      try await Database.requireSchema(session)
      // What is emitted from now on is another storm.
      let end = if let until { until } else { try await EventDiscard.now(session) }
      let discard = EventDiscard(event: event, since: since, until: end)
      let found = try await discard.count(session)
      if found.events == 0 || arguments.has("--dry-run") {
        print(event, discarded: 0, left: found.events, context)
        return .done
      }
      let events = counted(Int(found.events), "event")
      let question = "discard \(events) \(event) of \(counted(Int(found.rides), "ride"))?"
      guard try context.confirms(question, for: "discard", form) else {
        throw CommandFailure("nothing was discarded")
      }
      let discarded = try await run(discard, of: found.events, session)
      let left = try await discard.count(session).events
      print(event, discarded: discarded, left: left, context)
      return left == 0 ? .done : .failed
    }
  }

  /// Repeats batches until none of the events is left, or nodes hold their rides for too long.
  private static func run(
    _ discard: EventDiscard, of all: Int64, _ session: PostgresSession
  ) async throws -> Int64 {
    var progress = ProgressLine()
    defer { progress.end() }
    var discarded: Int64 = 0
    var giveUpAt = ContinuousClock.now + patience
    while true {
      let some = try await discard.discardSome(session)
      discarded += some
      progress.show("\(discarded) of \(counted(Int(all), "event")) …")
      if some > 0 {
        giveUpAt = ContinuousClock.now + patience
        continue
      }
      if ContinuousClock.now >= giveUpAt { return discarded }
      if try await discard.count(session).events == 0 { return discarded }
      try await Task.sleep(for: .milliseconds(500))
    }
  }

  private static func print(
    _ event: String, discarded: Int64, left: Int64, _ context: CommandContext
  ) {
    let isDry = context.arguments.has("--dry-run")
    switch context.arguments.choice("--format") ?? OutputFormat.table {
    case .json:
      Terminal.print(
        json: .object([
          "event": .string(event), "discarded": .integer(discarded), "left": .integer(left),
        ]))
    case .table where isDry:
      Terminal.print("\(counted(Int(left), "event")) \(Escape.line(event)) would be discarded")
    case .table:
      Terminal.print("\(counted(Int(discarded), "event")) \(Escape.line(event)) discarded")
      if left > 0 {
        Terminal.print(
          "\(left) left: nodes hold their rides, or ended while they did; repeat the command")
      }
    }
  }
}
