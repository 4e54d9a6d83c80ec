import Base
import Foundation
import PostgresStore
import RideCore
import RuleFiles
import SystemSupport

/// The format of a preview.
enum PreviewFormat: String, CaseIterable {
  case table, json, html
}

/// `ridepulse preview`: shows what would be sent, using the same decisions as the service.
enum Preview: Command {
  static let form = CommandForm(
    name: "preview", summary: "show what would be sent in a window of time, without sending",
    options: [
      .init(name: "--from", value: "TIME", help: "start time, such as 2026-11-21T08:00:00Z (now)"),
      .init(name: "--for", value: "DURATION", help: "how long, such as 30m or 1d (1h)"),
      .init(name: "--ride", value: "ID", help: "this ride only"),
      .init(name: "--rule", value: "NAME", help: "this rule only"),
      .init(name: "--limit", value: "N", help: "stop after N pushes"),
      .init(
        name: "--rides", value: "FILE",
        help: "rides from a file of JSON lines, without a database; see docs/testing-rules.md"),
      .init(
        name: "--story", value: "STATES|FILE",
        help:
          "an invented ride, such as requested,driver_assigned@2m,driver_arrived: what its people "
          + "would read"),
      .init(
        name: "--card-images", value: "DIR",
        help: "the app's pictures of its card, STATE.png or STATE.svg, for a story's page"),
      .choice("--format", "FORMAT", CommandForm.words(PreviewFormat.self), default: "table"),
      .init(name: "--output", value: "FILE", help: "output file (standard output)"),
      .init(
        name: "--diff", value: "DIR",
        help: "what the rule files of DIR would change; exit status 2 if they change anything"),
      .schedules,
    ],
    notes: [
      "Rides are read in their current state and moved through time with the decision that serve uses.",
      "No connection to APNs is opened and nothing is written. A preview assumes that APNs accepts",
      "every push and that no ride changes.",
    ],
    role: .reader)

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let arguments = context.arguments
    let format = try format(arguments)
    let length = try arguments.duration("--for") ?? .seconds(3600)
    let from = try arguments.time("--from")
    let limit = try arguments.integer("--limit", in: 1...Int.max)
    let configuration = try configuration(arguments.value("--schedules"), context)
    if let story = arguments.value("--story") {
      return try StoryPreview.run(
        story, format, configuration, from: arguments.time("--from"), arguments)
    }
    if arguments.has("--card-images") {
      throw arguments.error("--card-images without --story, whose page alone shows cards")
    }
    let other = try arguments.value("--diff").map { try Preview.configuration($0, context) }
    let (views, start, permits) = try await rides(configuration, from, context)
    let begin = from ?? start
    var window =
      arguments.has("--rides")
      ? PreviewWindow.file(from: begin, to: begin + length, limit: limit)
      : PreviewWindow(from: begin, to: begin + length, start: min(start, begin), limit: limit)
    window.permits = permits
    let output = try PreviewOutput(path: arguments.value("--output"), readers: .owner)
    if let other {
      let diff = PreviewDiff(views, window, by: configuration, with: other)
      try output.write(format == .json ? diff.json : diff.table)
      try output.close()
      return diff.isEmpty ? .done : .foundProblems
    }
    switch format {
    case .table:
      var writer = PreviewTable(output, rules: configuration.rules, rides: views)
      _ = try window.run(views, by: configuration, to: &writer)
    case .json:
      var writer = PreviewJSON(output, rules: configuration.rules)
      _ = try window.run(views, by: configuration, to: &writer)
    case .html:
      var writer = PreviewPage(output)
      _ = try window.run(views, by: configuration, to: &writer)
    }
    try output.close()
    return .done
  }

  private static func format(_ arguments: Arguments) throws -> PreviewFormat {
    let format = arguments.choice("--format") ?? PreviewFormat.table
    if format == .html, arguments.has("--diff") {
      throw arguments.error("--diff has no html; expected table or json")
    }
    return format
  }

  private static func configuration(_ directory: String?, _ context: CommandContext) throws
    -> EngineConfiguration
  {
    let all = try RuleDirectoryChoice.load(directory, context.environment).ruleSet
    var rules = all
    if let name = context.arguments.value("--rule") {
      guard let rule = all.rules.first(where: { $0.name == name }) else {
        // The rule files to compare with may lack this rule.
        if context.arguments.has("--diff") {
          return try engineConfiguration(all.keeping([]), context)
        }
        throw context.arguments.error(
          "unknown rule \(name)\(suggestion(for: name, among: all.rules.map(\.name)))")
      }
      rules = all.keeping([rule])
    }
    return try engineConfiguration(rules, context)
  }

  private static func engineConfiguration(_ rules: RuleSet, _ context: CommandContext) throws
    -> EngineConfiguration
  {
    var configuration = try APNsVariables.configuration(of: rules, context.environment)
    // Without a database there may be no service either: a placeholder ID takes the place of each
    // missing one.
    if context.arguments.has("--rides") || context.arguments.has("--story") {
      configuration.fillBundleIDs()
    }
    return configuration
  }

  /// Returns the rides, the time at which they have this state, and what `at-most` counts then.
  private static func rides(
    _ configuration: EngineConfiguration, _ from: Timestamp?, _ context: CommandContext
  ) async throws -> ([RideView], Timestamp, PermitBook) {
    let ride = context.arguments.value("--ride").map(RideID.init)
    if let path = context.arguments.value("--rides") {
      let now = Timestamp(epochSeconds: Int64(Date().timeIntervalSince1970))
      let start = from ?? now
      let views = try RidesFile.read(path, at: start).filter {
        ride == nil || $0.rideID == ride
      }
      if let ride, views.isEmpty {
        throw CommandFailure("\(path) has no ride \(Escape.line(ride.text))")
      }
      return (views, start, PermitBook())
    }
    return try await Database.with(context.environment, name: "preview") { session in
      try await read(ride, configuration, session, context.log.log)
    }
  }

  private static func read(
    _ ride: RideID?, _ configuration: EngineConfiguration, _ session: PostgresSession, _ log: Log
  ) async throws -> ([RideView], Timestamp, PermitBook) {
    let snapshot = RideSnapshot(
      session: session, apps: configuration.rules.apps, rules: configuration.rules, log: log)
    let now = try await snapshot.now()
    if let ride {
      guard let view = try await snapshot.ride(ride) else {
        throw CommandFailure("\(Database.schema).rides has no ride \(Escape.line(ride.text))")
      }
      return ([view], now, try await snapshot.permits(for: configuration.rules, [ride]))
    }
    var views: [RideView] = []
    var progress = ProgressLine()
    defer { progress.end() }
    try await snapshot.rides(in: configuration.rules.activeStates) { page in
      views += page
      progress.show("reading rides: \(views.count)")
    }
    let permits = try await snapshot.permits(for: configuration.rules, views.map(\.rideID))
    return (views, now, permits)
  }
}
