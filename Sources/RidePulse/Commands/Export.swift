import Base
import Foundation
import PostgresStore
import RideCore

/// `ridepulse export`: writes the ledger by day.
enum Export: Command {
  static let form = CommandForm(
    name: "export", summary: "write the verdicts of past days to files, one for each day",
    options: [
      .init(
        name: "--from", value: "DAY", isRequired: true,
        help: "the first day in UTC, such as 2026-11-21"
      ),
      .init(name: "--to", value: "DAY", isRequired: true, help: "the last day, which is included"),
      .choice("--format", "FORMAT", CommandForm.words(ExportFormat.self), default: "jsonl"),
      .init(
        name: "--output", value: "PATH",
        help: "a directory for the files, or the file of a single day; gzip if it ends in .gz (.)"),
      .init(name: "--resume", help: "leave out days whose file is there, which is complete"),
    ],
    notes: [
      "Files are named ridepulse-deliveries-DAY.jsonl, have the columns of the view deliveries, and the",
      "order of the commits. A verdict is in the file of the day on which it was written, whenever its",
      "event was. A day can be exported 5 minutes after its end. The files name people: only their owner",
      "may read them.",
    ],
    role: .reader)

  static func run(_ context: CommandContext) async throws -> ExitStatus {
    let arguments = context.arguments
    let format = arguments.choice("--format") ?? ExportFormat.jsonl
    let all = try days(arguments)
    let path = try ExportPath(arguments.value("--output") ?? ".", all, format, arguments)
    let days = arguments.has("--resume") ? all.filter { !path.exists($0) } : all
    guard let first = days.first, let last = days.last else {
      Terminal.print("all files are there")
      return .done
    }
    return try await Database.with(context.environment, name: "export") { session in
      try await Database.requireSchema(session)
      let export = DeliveryExport(session: session)
      try await check(first, last, export)
      let files = ExportFiles(days, format, path: path.file) { day, rows in
        Terminal.print("\(path.file(day)): \(counted(rows, "row"))")
      }
      var progress = ProgressLine()
      defer { progress.end() }
      var count = 0
      do {
        try await export.read(from: first.start, to: last.next.start) { deliveries in
          try files.write(deliveries)
          count += deliveries.count
          progress.show("\(counted(count, "row")) …")
        }
      } catch is DeliveryExport.Blocked {
        throw CommandFailure(
          "a transaction that writes the ledger has been open for a minute, so that the last day is "
            + "not complete; end it (ridepulse doctor names it), then repeat with --resume")
      }
      progress.end()
      try files.end()
      return .done
    }
  }

  private static func days(_ arguments: Arguments) throws(UsageError) -> [ExportDay] {
    func day(_ name: String) throws(UsageError) -> ExportDay {
      let text = arguments.value(name) ?? ""
      if let day = ExportDay(text) { return day }
      throw arguments.error("\(name) \(text) is not a day; expected one such as 2026-11-21")
    }
    let (first, last) = (try day("--from"), try day("--to"))
    if last < first { throw arguments.error("--to is before --from") }
    return ExportDay.days(first, to: last)
  }

  /// Refuses days that are not complete, and warns of those that retention may have deleted.
  private static func check(
    _ first: ExportDay, _ last: ExportDay, _ export: DeliveryExport
  ) async throws {
    let now = try await export.now()
    let ready = last.next.start + DeliveryExport.settling
    if now < ready {
      throw CommandFailure(
        "\(last.name) is not complete before \(CivilTime.iso(ready)); leave it out, or repeat then")
    }
    if try await export.reaches(first.start) { return }
    Terminal.printError(
      "ridepulse: warning: the ledger begins after \(first.name): earlier rows are deleted, or there "
        + "were none")
  }
}

/// The files of an export.
struct ExportPath {
  private let directory: String?
  private let single: String
  private let format: ExportFormat

  /// - Throws: `UsageError` if several days are to be written to one file.
  init(
    _ path: String, _ days: [ExportDay], _ format: ExportFormat, _ arguments: Arguments
  ) throws(UsageError) {
    let isDirectory = FileManager.default.fileExists(atPath: path + "/.")
    directory = path.hasSuffix("/") || isDirectory ? path : nil
    single = path
    self.format = format
    if directory == nil, days.count > 1 {
      throw arguments.error(
        "--output \(path) is not a directory, and \(days.count) days have as many files")
    }
  }

  func file(_ day: ExportDay) -> String {
    guard let directory else { return single }
    let name = "ridepulse-deliveries-\(day.name).\(format.rawValue)"
    if directory == "." { return name }
    return directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
  }

  func exists(_ day: ExportDay) -> Bool { FileManager.default.fileExists(atPath: file(day)) }
}
