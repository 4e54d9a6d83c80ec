import Base
import PostgresStore
import RideCore

/// `ridepulse unpark`: makes parked rides due again.
enum Unpark: Command {
  static let form = CommandForm(
    name: "unpark", summary: "make parked rides due again, and print why they were parked",
    operands: [
      .init(name: "RIDE", isOptional: true, isRepeatable: true, help: "the ID of a parked ride")
    ],
    options: [
      .init(name: "--all", help: "all parked rides"),
      .dryRun("print the rides with their reasons, and change nothing"), .format,
    ],
    notes: [
      "Fix the cause first: a ride that fails again is parked again. Pushes that had left are sent",
      "again, under the same apns-id. Exit status 1 if a ride that is named is not parked.",
    ])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let ids = try context.arguments.selection(of: "RIDE")?.map { RideID($0) }
    let isDry = context.arguments.has("--dry-run")
    let rides = try await Database.with(context.environment, name: "unpark") { session in
      try await Database.requireSchema(session)
      let parked = ParkedRides(session: session)
      return try await isDry ? parked.list(ids) : parked.unpark(ids)
    }
    let report = UnparkReport(rides: rides, wanted: ids, isDry: isDry)
    switch context.arguments.choice("--format") ?? OutputFormat.table {
    case .table: Terminal.print(report.text)
    case .json: Terminal.print(json: report.json)
    }
    if report.others.isEmpty { return .done }
    throw CommandFailure(
      "not parked: \(report.others.map { Escape.line($0.text) }.joined(separator: ", "))")
  }
}

/// The rides that were parked, and those that were not.
struct UnparkReport {
  let rides: [ParkedRide]
  /// The rides that were named; nil if all were meant.
  let wanted: [RideID]?
  let isDry: Bool

  /// The rides that were named and are not parked.
  var others: [RideID] {
    let parked = Set(rides.map(\.id))
    return (wanted ?? []).filter { !parked.contains($0) }
  }

  var text: String {
    let lines = rides.map { ride in
      let since = ride.parkedAt.map { " since \(CivilTime.iso($0))" } ?? ""
      return Escape.line("\(ride.id.text): parked\(since): \(ride.reason)")
    }
    let last: String =
      if rides.isEmpty {
        "no ride \(wanted == nil ? "" : "of these ")is parked"
      } else if isDry {
        "\(counted(rides.count, "ride")) would be due again"
      } else {
        "\(counted(rides.count, "ride")) \(rides.count == 1 ? "is" : "are") due again"
      }
    return (lines + [last]).joined(separator: "\n")
  }

  var json: JSONValue {
    .object([
      "dry_run": .bool(isDry),
      "rides": .array(
        rides.map {
          .object([
            "ride_id": .string($0.id.text), "reason": .string($0.reason),
            "parked_at": .orNull($0.parkedAt),
          ])
        }),
      "not_parked": .array(others.map { .string($0.text) }),
    ])
  }
}
