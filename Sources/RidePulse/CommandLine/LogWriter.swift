import Base
import PostgresStore
import RideCore
import SystemSupport

/// Writes log records to standard error, one per line.
struct LogWriter: Sendable {
  enum Format: String, CaseIterable {
    case text
    case json
  }

  var format: Format
  var level: Log.Level
  /// Whether lines begin with their priority, which journald removes.
  var hasPriorities: Bool
  /// The cell that the records are about; nil if there is one cell, or if they are about all.
  var cell: Cell?

  init(_ arguments: Arguments, _ environment: [String: String] = [:]) {
    format = arguments.choice("--log-format") ?? .text
    level = Log.Level.allCases.first { $0.name == arguments.value("--log-level") } ?? .info
    hasPriorities = JournalStream(environment)?.isStandardError ?? false
  }

  /// Returns a writer of warnings and errors alone, unless a person watches or asks for more.
  func quietIfNotOnTerminal(_ arguments: Arguments) -> LogWriter {
    if Terminal.showsErrors || arguments.value("--log-level") != nil { return self }
    var quiet = self
    quiet.level = max(level, .warning)
    return quiet
  }

  /// Returns a writer of records about one of several cells.
  func of(_ cell: Cell) -> LogWriter {
    var own = self
    own.cell = cell
    return own
  }

  /// The log function that the parts of the service receive.
  var log: Log {
    let (writer, threshold) = (self, level)
    return Log { level, event, fields in
      guard level >= threshold else { return }
      let own: [(name: String, value: any LogValue)] =
        writer.cell?.name.map { [("cell", $0)] } ?? []
      let line = Self.line(
        writer.format, at: MachineTime.now, level: level, event: event,
        fields: own + fields.map { ($0, Self.isAdvice($0) ? writer.named($1) : $1) })
      Terminal.printError(writer.prioritized(line, level))
    }
  }

  /// Returns the line about the error that ends a command: a record if standard error is read as JSON.
  func lastLine(_ error: String, at instant: Timestamp = MachineTime.now) -> String {
    let text =
      switch format {
      case .text: "ridepulse: \(error)"
      case .json:
        Self.line(
          .json, at: instant, level: .error, event: .commandFailed, fields: [("error", error)])
      }
    return prioritized(text, .error)
  }

  /// Returns a text of one or more lines, each with its priority if the journal reads them.
  func prioritized(_ text: String, _ level: Log.Level) -> String {
    guard hasPriorities else { return text }
    return text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { "<\(level.priority)>\($0)" }.joined(separator: "\n")
  }

  /// Whether a field holds a constant text, which may name tables and functions.
  private static func isAdvice(_ field: String) -> Bool { ["fix", "action"].contains(field) }

  private func named(_ advice: any LogValue) -> any LogValue {
    guard let text = advice as? String else { return advice }
    return cell?.schema?.applied(to: text) ?? Database.named(text)
  }

  /// Formats one record as a line.
  static func line(
    _ format: Format, at instant: Timestamp, level: Log.Level, event: LogEvent,
    fields: [(name: String, value: any LogValue)]
  ) -> String {
    let time = CivilTime.milliseconds(instant)
    switch format {
    case .text:
      let data = fields.map { " \($0.name)=\(quoted("\($0.value)"))" }.joined()
      return "\(time) \(level.name.uppercased()) \(event.message)\(data)"
    case .json:
      var record: [String: JSONValue] = [
        "time": .string(time), "level": .string(level.name), "event": .string(event.code),
        "message": .string(event.message),
      ]
      for (name, value) in fields { record[name] = value.logged }
      return Escape.json(JSONValue.object(record).text)
    }
  }

  /// Quotes a value that has spaces or is empty, so that it can be parsed back and stays on one
  /// line.
  private static func quoted(_ text: String) -> String {
    // Scalars: a quote before a combining mark is one Character, but would still end the value.
    let isPlain = text.unicodeScalars.allSatisfy { scalar in
      !scalar.isUnprintable && !scalar.properties.isWhitespace
        && scalar != "\"" && scalar != "=" && scalar != "\\"
    }
    if isPlain, !text.isEmpty { return text }
    return Escape.json(JSONValue.string(text).text)
  }
}

extension Log.Level {
  /// The word for the level in options and log lines.
  var name: String { "\(self)" }

  /// The priority of syslog.
  fileprivate var priority: Int {
    switch self {
    case .debug: 7
    case .info: 6
    case .warning: 4
    case .error: 3
    }
  }
}
