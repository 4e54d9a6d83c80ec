import Base
import Foundation
import PostgresStore
import RideCore
import RuleFiles

/// `ridepulse trigger`: emits an event by hand, or shows what it would send.
enum Trigger: Command {
  static let form = CommandForm(
    name: "trigger", summary: "emit an event by hand, or show what it would send",
    operands: [.init(name: "EVENT", help: "the event, such as driver_arrived")],
    options: [
      .init(name: "--ride", value: "ID", help: "the ride; without it, --data names the person"),
      .init(
        name: "--data", value: "KEY=VALUE", isRepeatable: true,
        help: "a text of the event's data; KEY:=JSON for a number, true, false, a list"),
      .init(name: "--dry-run", help: "print each push, and send and write nothing"),
      .init(name: "--wait", help: "wait until every phone has its verdict, and print them"),
      .schedules, .format,
    ],
    notes: [
      "A dry run makes the service's own decision and stops before the transport. The event has no ID",
      "yet, so apns-id will differ, and apns-expiration counts from the time of the event.",
      "",
      "An event without a ride concerns the people whom the data names: --data driver_id=d7, or",
      "--data 'driver_id:=[\"d7\",\"d8\"]'.",
      "",
      "json is one object for each ride or person, on a line of its own; with --wait, deliveries is null",
      "if no verdict came in time.",
    ])

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let arguments = context.arguments
    let ride = arguments.value("--ride").map(RideID.init)
    // The limit of the schema, checked before any query.
    if let size = ride?.text.utf8.count, size > RideQueries.idLimit {
      throw arguments.error("--ride has \(size) bytes; an ID has \(RideQueries.idLimit) at most")
    }
    let event = arguments.operands[0]
    let format = arguments.choice("--format") ?? OutputFormat.table
    let data = try EventData.json(arguments.all("--data"))
    let loaded = try RuleDirectoryChoice.load(arguments.value("--schedules"), context.environment)
    let path = RuleDirectoryChoice.path(arguments.value("--schedules"), context.environment)
    let vocabulary = RuleVocabulary(loaded, directory: path)
    let rules = loaded.ruleSet
    if InternalEvent(rawValue: event) != nil {
      throw arguments.error("RidePulse emits \(event) itself; no rule can name it")
    }
    if !rules.knownEvents.contains(event) {
      throw arguments.error(
        "unknown event \(event): no rule file declares it"
          + "\(suggestion(for: event, among: rules.knownEvents.sorted()))"
          + ". To declare it, \(vocabulary.remedy(for: event, as: .event)); "
          + "if it is a state, \(vocabulary.remedy(for: event, as: .state))")
    }
    let people = ride == nil ? PersonalEvent.split(data, apps: rules.apps) : []
    if ride == nil { try checkPerson(people, event, rules, arguments) }
    return try await Database.with(context.environment, name: "trigger") { session in
      let queries = RideQueries(session: session)
      if arguments.has("--dry-run") {
        let subjects =
          ride.map { [(ride: $0, data: data)] }
          ?? people.map { (RideID(ofPerson: $0.ownerID, app: $0.app), $0.data) }
        return try await dryRun(
          event, subjects, isOfRide: ride != nil, rules, queries, context.environment, format)
      }
      let emitted =
        if let ride {
          [(event: try await queries.emit(event, ride: ride, data: data), ride: ride)]
        } else {
          try await queries.emit(event, data: data)
        }
      return try await TriggeredEvents(event: event, queries: queries, format: format)
        .follow(emitted, waits: arguments.has("--wait"))
    }
  }

  /// Checks that an event without a ride names a person, and is no state.
  private static func checkPerson(
    _ people: [PersonalEvent], _ event: String, _ rules: RuleSet, _ arguments: Arguments
  ) throws {
    if rules.activeStates.contains(event) || rules.finalStates.contains(event) {
      throw arguments.error("\(event) is a state: name the ride with --ride ID")
    }
    if !people.isEmpty { return }
    let keys = Set(rules.apps).union([.customer, .driver]).map(\.ownerKey).sorted()
    throw arguments.error(
      "neither a ride nor a person: add --ride ID, or --data KEY=ID with KEY one of "
        + keys.joined(separator: ", "))
  }

  private static func dryRun(
    _ event: String, _ subjects: [(ride: RideID, data: String)], isOfRide: Bool, _ rules: RuleSet,
    _ queries: RideQueries, _ environment: [String: String], _ format: OutputFormat
  ) async throws -> ExitStatus {
    let configuration = try APNsVariables.configuration(of: rules, environment)
    for (index, subject) in subjects.enumerated() {
      let (view, now) = try await queries.view(
        event, ride: subject.ride, data: subject.data, apps: rules.apps)
      if isOfRide, view.ride == nil {
        throw CommandFailure(
          "\(Database.schema).rides has no ride \(Escape.line(subject.ride.text))")
      }
      // Schedules that are due at the same time are left to `preview`.
      var decision = try await decision(on: view, configuration, now, queries)
      decision.pushes.removeAll { !view.events.contains($0.entry.event) }
      decision.items.removeAll { !view.events.contains($0.entry.event) }
      switch format {
      case .table:
        if index > 0 { Terminal.print("") }
        Terminal.print(DryRunReport.text(of: decision))
      case .json:
        Terminal.print(json: DryRunReport.json(of: decision, event: event, ride: subject.ride))
      }
    }
    return .done
  }

  /// Decides with the permits that are left; they are read only if the decision needs any.
  private static func decision(
    on view: RideView, _ configuration: EngineConfiguration, _ now: Timestamp,
    _ queries: RideQueries
  ) async throws -> Decision {
    let first = decide(view, by: configuration, now: now)
    if first.permitRequests.isEmpty { return first }
    var permits = try await queries.permits(for: configuration.rules, [view.rideID])
    return decide(view, by: configuration, now: now) { permits.refuse($0, at: now) }
  }
}

/// Converts `--data` words to a JSON object.
enum EventData {
  static func json(_ words: [String]) throws(UsageError) -> String {
    var members: [String: JSONValue] = [:]
    for word in words {
      // Scalars: a value may begin with a combining mark, which forms one Character with the sign.
      let scalars = word.unicodeScalars
      guard let sign = scalars.firstIndex(of: "="), sign != scalars.startIndex else {
        throw UsageError("--data \(word) is not KEY=VALUE", form: Trigger.form)
      }
      let value = String(scalars[scalars.index(after: sign)...])
      let key = scalars[..<sign]
      guard key.last == ":" else {
        members[String(key)] = .string(value)
        continue
      }
      guard let json = JSONValue(json: value.utf8), key.count > 1 else {
        throw UsageError("--data \(word): \(value) is not JSON", form: Trigger.form)
      }
      members[String(key.dropLast())] = json
    }
    return JSONValue.object(members).text
  }
}
