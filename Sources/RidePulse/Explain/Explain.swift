import Base
import PostgresStore
import RideCore
import RuleFiles

/// The format of what is explained.
enum ExplainFormat: String, CaseIterable {
  case table, json, html
}

/// `ridepulse explain`: shows what happened to one ride, person, phone or push, and why.
enum Explain: Command {
  static let form = CommandForm(
    name: "explain",
    summary: "show what a ride, a person, a phone or a push received, and why",
    operands: [.init(name: "RIDE", isOptional: true, help: "a ride's ID: its whole history")],
    options: [
      .init(
        name: "--owner", value: "ID",
        help: "a person, as rides and phones name them: phones, cards, rides, newest pushes"),
      .init(name: "--apns-id", value: "UUID", help: "the push with this apns-id, and its ride"),
      .init(
        name: "--token", value: "SUFFIX",
        help:
          "the last 6 or more characters of a token: its phone, card or start token, newest pushes"),
      .init(
        name: "--at", value: "TIME",
        help: "a ride as the ledger records it at this time, such as 2026-11-21T08:00:00Z"),
      .choice("--format", "FORMAT", CommandForm.words(ExplainFormat.self), default: "table"),
    ],
    notes: [
      "Give exactly one of them. Times are in the ride's time zone in a ride's table, and UTC",
      "elsewhere. Nothing is written: a role that may only SELECT is enough. Events that no rule",
      "matches leave no trace after they are handled. html is one page about a ride, with what its",
      "phones showed: the texts of a ride that serve recorded (RIDEPULSE_RECORD), by the rules of",
      "RIDEPULSE_SCHEDULES, or schedules, or RIDEPULSE_RULES_SHARE, if those decided it.",
    ],
    role: .reader)

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let query = try SearchQuery(context.arguments)
    let time = try time(context.arguments, isOfRide: query == nil)
    let format = context.arguments.choice("--format") ?? ExplainFormat.table
    // A page is one document: it fails without a choice among several cells.
    if format == .html { _ = try Database.conninfo(context.environment) }
    return try await EachCell.run(context) { context in
      try await explain(query, at: time, format, context)
    }
  }

  private static func explain(
    _ query: SearchQuery?, at time: Timestamp?, _ format: ExplainFormat, _ context: CommandContext
  ) async throws -> ExitStatus {
    guard let query else {
      if format == .html {
        try await page(ofRide: context.arguments.operands[0], context.environment)
        return .done
      }
      try await explain(ride: context.arguments.operands[0], at: time, context.environment, format)
      return .done
    }
    if format == .html {
      throw context.arguments.error(
        "--format html is about a ride; expected RIDE, or table or json")
    }
    let result = try await Database.with(context.environment, name: "explain") { session in
      do throws(PostgresError) {
        return try await PushSearch(session: session).result(of: query.key)
      } catch {
        guard case .timeout = error.kind else { throw error }
        throw CommandFailure(
          "the search took too long: indexes may be missing; ridepulse migrate builds them")
      }
    }
    if result.isEmpty { throw NothingFound(description: query.absence) }
    switch format {
    case .table, .html: Terminal.print(SearchTable(result, of: query).text)
    case .json: Terminal.print(json: SearchReport(result).json)
    }
    return .done
  }

  /// Returns the past time that is asked for; nil means now.
  private static func time(
    _ arguments: Arguments, isOfRide: Bool
  ) throws(UsageError) -> Timestamp? {
    guard let time = try arguments.time("--at") else { return nil }
    if !isOfRide || arguments.choice("--format") == ExplainFormat.html {
      throw arguments.error("--at is about a ride, as table or json")
    }
    if time > MachineTime.now { throw arguments.error("--at is not in the past") }
    return time
  }

  private static func explain(
    ride id: String, at time: Timestamp?, _ environment: [String: String],
    _ format: ExplainFormat
  ) async throws {
    let history = try await Database.with(environment, name: "explain") { session in
      try await found(id, session)
    }
    let report = RideReport(time.map { history.at($0) } ?? history, of: id)
    switch format {
    case .table, .html: Terminal.print(ExplainTable(report).text)
    case .json: Terminal.print(json: report.json)
    }
  }

  private static func page(ofRide id: String, _ environment: [String: String]) async throws {
    let (history, source) = try await Database.with(environment, name: "explain") { session in
      let history = try await found(id, session)
      return (history, try await RecordedSource.read(history, of: id, session))
    }
    // Without rules, the page shows what the ledger has.
    let release = try? RuleDirectories(nil, environment).load().get()
    let configuration = release.flatMap { try? APNsVariables.configuration(of: $0, environment) }
    let screens = RideScreensReport(history, of: id, source, by: configuration)
    Terminal.print(RidePage(RideReport(history, of: id), screens).html)
  }

  private static func found(
    _ id: String, _ session: PostgresSession
  ) async throws -> RideHistory {
    let history = try await RideQueries(session: session).history(of: id)
    if history.isEmpty {
      throw NothingFound(description: "nothing is recorded about a ride \(Escape.line(id))")
    }
    return history
  }
}

/// Formats a ride's history for people, in the ride's time zone.
struct ExplainTable {
  private let report: RideReport
  private let zone: ZoneTimes?
  private let rows: LedgerLines

  init(_ report: RideReport) {
    self.report = report
    zone = ZoneTimes(identifier: report.history.ride?.timeZone ?? "UTC")
    rows = LedgerLines(zone: zone, revisions: report.history.revisions)
  }

  var text: String {
    var lines = head
    for entry in report.timeline {
      lines.append("")
      let id = entry.eventID.map { " (event \($0))" } ?? ""
      let waits = entry.isWaiting ? ": not handled yet" : ""
      lines.append("\(local(entry.at))  \(entry.event)\(id)\(waits)")
      lines += entry.decisions.flatMap(rows.lines)
    }
    if report.timeline.isEmpty {
      let then = report.history.time == nil ? "has fired" : "had fired"
      lines += ["", "no rule \(then) for it"]
    }
    let cards = CardLines(history: report.history, zone: zone).all
    let parts = lines + phones + cards + rows.decidedBy(report.history.entries)
    return parts.map { Escape.line($0) }.joined(separator: "\n")
  }

  private var phones: [String] {
    let phones = report.history.phones
    if phones.isEmpty { return [] }
    return ["", "phones"] + phones.map { "  " + PhoneLine(phone: $0, zone: zone).text }
  }

  private var head: [String] {
    let history = report.history
    var lines: [String] = []
    if let time = history.time {
      lines.append(
        "as the ledger records it at \(local(time)): the ride's row, people and phones are those of "
          + "now, and the attempts of what was pending are not known")
    }
    if let ride = history.ride {
      let people = [("customer", ride.customerID), ("driver", ride.driverID)].compactMap {
        name, id in id.map { "\(name) \($0)" }
      }
      let parts = ["ride \(ride.id): \(ride.state ?? "no state")"] + people
      lines.append(parts.joined(separator: ", "))
      let participants = ride.participants.map { "\($0.app) \($0.ownerID)" }
      if !participants.isEmpty {
        lines.append("participants: \(participants.joined(separator: ", "))")
      }
      if ride.isUnread {
        lines.append(
          "its row changed and can't be read, so that no clock rule fires: "
            + "select * from \(Database.schema).unread_rides")
      }
    } else if RideID(report.id).isOfPerson {
      lines.append("events about no ride, of one person")
    } else {
      lines.append("the ride is gone from \(Database.schema).rides")
    }
    lines += history.contacts.map {
      "last contact of \($0.app) \($0.ownerID): \(local($0.contactedAt))"
    }
    guard let plan = history.plan else {
      return history.time == nil ? lines + ["not on the agenda"] : lines
    }
    var next = plan.due.map { "next due \(local($0))" } ?? "due with its next event"
    if let reason = plan.parkedReason {
      next =
        "parked: \(reason); once that is fixed: ridepulse unpark -- \(ShellText.word(report.id))"
    }
    if let node = plan.node { next += "; held by node \(node) now" }
    return lines + [next]
  }

  private func local(_ instant: Timestamp) -> String { CivilTime.local(instant, zone) }
}
