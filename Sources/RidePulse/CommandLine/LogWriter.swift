import Base
import RideCore

/// Writes log records to standard error, one per line.
struct LogWriter: Sendable {
  enum Format: String, CaseIterable {
    case text
    case json
  }

  var format: Format
  var level: Log.Level

  init(_ arguments: Arguments) {
    format = arguments.choice("--log-format") ?? .text
    level = Log.Level.allCases.first { $0.name == arguments.value("--log-level") } ?? .info
  }

  /// Returns a writer of warnings and errors alone, unless a person watches or asks for more.
  func quietIfNotOnTerminal(_ arguments: Arguments) -> LogWriter {
    if Terminal.showsErrors || arguments.value("--log-level") != nil { return self }
    var quiet = self
    quiet.level = max(level, .warning)
    return quiet
  }

  /// The log function that the parts of the service receive.
  var log: Log {
    let (format, threshold) = (format, level)
    return Log { level, message, fields in
      guard level >= threshold else { return }
      Terminal.printError(
        Self.line(
          format, at: MachineTime.now, level: level, message: message,
          fields: fields.map { ($0.0, Self.advice.contains($0.0) ? Database.named($0.1) : $0.1) }))
    }
  }

  /// Returns the line about the error that ends a command: a record if standard error is read as JSON.
  func lastLine(_ error: String, at instant: Timestamp = MachineTime.now) -> String {
    switch format {
    case .text: "ridepulse: \(error)"
    case .json:
      Self.line(
        .json, at: instant, level: .error, message: "Command failed", fields: [("error", error)])
    }
  }

  /// The fields that hold a constant text, which may name tables and functions.
  private static let advice: Set = ["fix", "action"]

  /// Formats one record as a line.
  static func line(
    _ format: Format, at instant: Timestamp, level: Log.Level, message: String,
    fields: [(String, String)]
  ) -> String {
    let time = CivilTime.milliseconds(instant)
    switch format {
    case .text:
      let data = fields.map { " \($0.0)=\(quoted($0.1))" }.joined()
      return "\(time) \(level.name.uppercased()) \(message)\(data)"
    case .json:
      var record: [String: JSONValue] = [
        "time": .string(time), "level": .string(level.name), "message": .string(message),
      ]
      for (name, value) in fields { record[name] = .string(value) }
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
}
