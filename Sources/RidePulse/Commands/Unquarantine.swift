import Base
import PostgresStore
import RideCore

/// `ridepulse unquarantine`: sends to phones again whose tokens were refused.
enum Unquarantine: Command {
  static let form = CommandForm(
    name: "unquarantine",
    summary: "send to phones in quarantine again, whose tokens were refused three times in a row",
    operands: [
      .init(
        name: "APP", isOptional: true, isRepeatable: true,
        help: "an app whose phones are in quarantine, such as customer")
    ],
    options: [
      .init(name: "--all", help: "the phones of all apps"),
      .dryRun("print the number of phones, and change nothing"), .format,
    ],
    notes: [
      "After a wrong bundle ID, environment or Firebase project was corrected. A token that is dead is",
      "refused again, and its phone is in quarantine after three pushes. Exit status 1 if an app that",
      "is named has no phone in quarantine.",
    ])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let apps = try context.arguments.selection(of: "APP")?.map { App(rawValue: $0) }
    let isDry = context.arguments.has("--dry-run")
    let found = try await Database.with(context.environment, name: "unquarantine") { session in
      try await Database.requireSchema(session)
      let quarantine = Quarantine(session: session)
      var found: [(phones: QuarantinedPhones, count: Int64)] = []
      for phones in try await quarantine.list(apps) {
        let count = if isDry { phones.count } else { try await quarantine.lift(phones.app) }
        found.append((phones, count))
      }
      return found
    }
    let report = QuarantineReport(apps: found, wanted: apps, isDry: isDry)
    switch context.arguments.choice("--format") ?? OutputFormat.table {
    case .table: Terminal.print(report.text)
    case .json: Terminal.print(json: report.json)
    }
    if report.others.isEmpty { return .done }
    throw CommandFailure(
      "no phone in quarantine: "
        + report.others.map { Escape.line($0.rawValue) }.joined(separator: ", "))
  }
}

/// The apps whose phones were in quarantine, and those that had none.
struct QuarantineReport {
  /// The phones as they were, and the number of them that are sent to again.
  let apps: [(phones: QuarantinedPhones, count: Int64)]
  /// The apps that were named; nil if all were meant.
  let wanted: [App]?
  let isDry: Bool

  /// The apps that were named and have no phone in quarantine.
  var others: [App] {
    let found = Set(apps.map(\.phones.app))
    return (wanted ?? []).filter { !found.contains($0) }
  }

  var text: String {
    if apps.isEmpty { return "no phone \(wanted == nil ? "" : "of these apps ")is in quarantine" }
    return apps.map { app in
      Escape.line(
        "\(app.phones.app.rawValue): \(counted(Int(app.count), "phone")) "
          + "\(isDry ? "would be" : app.count == 1 ? "is" : "are") sent to again, in quarantine "
          + "since \(CivilTime.iso(app.phones.since)), refused up to \(app.phones.refusals) times in a row"
      )
    }.joined(separator: "\n")
  }

  var json: JSONValue {
    .object([
      "dry_run": .bool(isDry),
      "apps": .array(
        apps.map {
          .object([
            "app": .string($0.phones.app.rawValue), "phones": .integer($0.count),
            "quarantined_since": .orNull($0.phones.since),
            "most_refusals": .integer($0.phones.refusals),
          ])
        }),
      "not_in_quarantine": .array(others.map { .string($0.rawValue) }),
    ])
  }
}
