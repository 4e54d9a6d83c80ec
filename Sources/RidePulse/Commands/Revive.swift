import Base
import PostgresStore
import RideCore

/// `ridepulse revive`: enables phones again that a storm of refusals has disabled.
enum Revive: Command {
  static let form = CommandForm(
    name: "revive", summary: "enable phones again that APNs or FCM reported as gone by mistake",
    options: [
      .init(
        name: "--app", value: "APP", isRequired: true,
        help: "the app of the phones, such as customer"
      ),
      .init(
        name: "--since", value: "TIME", isRequired: true,
        help: "the first time at which they were disabled, such as 2026-11-21T08:00:00Z"),
      .init(name: "--until", value: "TIME", help: "the end of these times (now)"),
      .init(
        name: "--reason", value: "CODE",
        help: "only phones disabled for this reason, such as Unregistered"),
      .dryRun("print the numbers by reason, and change nothing"), .yes, .format,
    ],
    notes: [
      "Leaves out phones that are signed out or erased, and those whose installation has registered",
      "since. A token that is dead all the same is refused at its next push, which disables it again.",
      "Cards and start tokens that were lost come back when the app registers them.",
    ])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let selection = try selection(context.arguments)
    let isDry = context.arguments.has("--dry-run")
    let counts = try await Database.with(context.environment, name: "revive") { session in
      try await Database.requireSchema(session)
      let revival = PhoneRevival(session: session)
      if isDry { return try await revival.count(selection) }
      // What is recorded and not applied yet would disable phones afterwards.
      _ = try await TokenOutcomes(session: session).apply()
      let found = try await revival.count(selection)
      let phones = found.reduce(0) { $0 + $1.revived }
      if phones == 0 { return found }
      let question = "enable \(counted(Int(phones), "phone")) of \(selection.app.rawValue) again?"
      guard try context.confirms(question, for: "revive", form) else {
        throw CommandFailure("no phone was enabled")
      }
      var progress = ProgressLine()
      defer { progress.end() }
      return try await revival.revive(selection) { done in
        progress.show("\(done) of \(counted(Int(phones), "phone")) …")
      }
    }
    let report = ReviveReport(selection: selection, counts: counts, isDry: isDry)
    switch context.arguments.choice("--format") ?? OutputFormat.table {
    case .table: Terminal.print(report.text)
    case .json: Terminal.print(json: report.json)
    }
    return .done
  }

  private static func selection(_ arguments: Arguments) throws -> PhoneRevival.Selection {
    guard let since = try arguments.time("--since") else {
      throw arguments.error("--since TIME is missing")
    }
    let end = try arguments.time("--until")
    if since >= MachineTime.now { throw arguments.error("--since is not in the past") }
    if let end, since >= end { throw arguments.error("--until is not after --since") }
    let reason = arguments.value("--reason")
    if let reason, PhoneRevival.reasonsOfApps.contains(reason) {
      throw arguments.error(
        "--reason \(reason) comes from the app, whose next registration enables the phone again")
    }
    return .init(
      app: App(rawValue: arguments.value("--app") ?? ""), since: since, until: end, reason: reason)
  }
}

/// The phones that a revival found, by the reason for which they were disabled.
struct ReviveReport {
  let selection: PhoneRevival.Selection
  let counts: [PhoneRevival.Count]
  let isDry: Bool

  private var revived: Int64 { counts.reduce(0) { $0 + $1.revived } }
  private var replaced: Int64 { counts.reduce(0) { $0 + $1.replaced } }
  private var locked: Int64 { counts.reduce(0) { $0 + $1.locked } }

  var text: String {
    var lines = counts.filter { $0.revived > 0 }.map {
      Escape.line("\($0.reason): \(counted(Int($0.revived), "phone"))")
    }
    if replaced > 0 {
      lines.append(
        "left out, because the installation has registered since: "
          + counted(Int(replaced), "phone"))
    }
    if locked > 0 {
      lines.append(
        "left out, because another session has the row locked: \(counted(Int(locked), "phone")); "
          + "repeat the command")
    }
    let phones = "\(counted(Int(revived), "phone")) of \(selection.app.rawValue)"
    lines.append(
      revived == 0
        ? "no phone of \(Escape.line(selection.app.rawValue)) to enable"
        : Escape.line(
          "\(phones) \(isDry ? "would be" : revived == 1 ? "is" : "are") enabled again"))
    return lines.joined(separator: "\n")
  }

  var json: JSONValue {
    .object([
      "dry_run": .bool(isDry), "app": .string(selection.app.rawValue),
      "since": .orNull(selection.since), "until": .orNull(selection.until),
      "reasons": .array(
        counts.map {
          .object([
            "reason": .string($0.reason), "enabled": .integer($0.revived),
            "replaced": .integer($0.replaced), "locked": .integer($0.locked),
          ])
        }),
      "enabled": .integer(revived), "replaced": .integer(replaced), "locked": .integer(locked),
    ])
  }
}
