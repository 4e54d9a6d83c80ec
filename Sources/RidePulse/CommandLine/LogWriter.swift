import Foundation
import RideCore

/// Writes log records to standard error, one per line.
struct LogWriter: Sendable {
  enum Format: String, CaseIterable {
    case text
    case json
  }

  var format: Format
  var level: Log.Level

  /// The log function that the parts of the service receive.
  var log: Log {
    let (format, threshold) = (format, level)
    return Log { level, message, fields in
      guard level >= threshold else { return }
      Terminal.complain(
        Self.line(format, at: Date(), level: level, message: message, fields: fields))
    }
  }

  /// Formats one record as a line.
  static func line(
    _ format: Format, at date: Date, level: Log.Level, message: String,
    fields: [(String, String)]
  ) -> String {
    let time = date.formatted(
      .iso8601.year().month().day().timeZone(separator: .omitted)
        .time(includingFractionalSeconds: true))
    switch format {
    case .text:
      let data = fields.map { " \($0.0)=\(quoted($0.1))" }.joined()
      return "\(time) \("\(level)".uppercased()) \(message)\(data)"
    case .json:
      var record: [String: JSONValue] = [
        "time": .string(time), "level": .string("\(level)"), "message": .string(message),
      ]
      for (name, value) in fields { record[name] = .string(value) }
      return Escape.json(String(decoding: JSONValue.object(record).json, as: UTF8.self))
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
    return Escape.json(String(decoding: JSONValue.string(text).json, as: UTF8.self))
  }

  /// Reads `--log-format` and `--log-level`.
  init(_ arguments: Arguments, form: CommandForm) throws(UsageError) {
    let formats = Format.allCases.map(\.rawValue)
    guard let format = Format(rawValue: arguments.value("--log-format") ?? "text") else {
      let word = arguments.value("--log-format") ?? ""
      throw UsageError(
        "--log-format \(word) is neither text nor json", known: formats, word: word, form: form)
    }
    let word = arguments.value("--log-level") ?? "info"
    guard let level = Log.Level.allCases.first(where: { "\($0)" == word }) else {
      let levels = Log.Level.allCases.map { "\($0)" }
      throw UsageError(
        "--log-level \(word) is none of \(levels.joined(separator: ", "))", known: levels,
        word: word, form: form)
    }
    self.format = format
    self.level = level
  }
}
