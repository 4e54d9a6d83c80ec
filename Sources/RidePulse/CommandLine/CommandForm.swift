import RideCore

/// The operands, options and help text of a command.
struct CommandForm {
  /// An option, which begins with `--`.
  struct Option {
    var name: String
    /// The placeholder of its value in the help; nil if it takes none.
    var value: String?
    var isRepeatable = false
    /// All valid values, if they are a short list.
    var choices: [String] = []
    var help: String
  }

  /// A positional argument.
  struct Operand {
    var name: String
    var isOptional = false
    /// All valid values, if they are a short list.
    var choices: [String] = []
    var help: String
  }

  var name: String
  var summary: String
  var operands: [Operand] = []
  var options: [Option] = []
  /// The lines that the help shows below the options.
  var notes: [String] = []

  /// The options of every command.
  static let common = [
    Option(
      name: "--log-format", value: "text|json", choices: words(LogWriter.Format.self),
      help: "form of the log lines on standard error"),
    Option(
      name: "--log-level", value: "LEVEL", choices: Log.Level.allCases.map { "\($0)" },
      help: "debug, info, warning or error (info)"),
    Option(name: "--help", help: "print this and do nothing"),
  ]

  var allOptions: [Option] { options + Self.common }

  /// The usage line: `ridepulse trigger EVENT --ride ID [--data KEY=VALUE]... [--dry-run]`.
  var usage: String {
    let words =
      operands.map { $0.isOptional ? "[\($0.name)]" : $0.name }
      + options.map { option in
        let word = option.name + (option.value.map { " " + $0 } ?? "")
        return option.isRepeatable ? "[\(word)]..." : "[\(word)]"
      }
    return (["ridepulse", name] + words).joined(separator: " ")
  }

  /// The complete help page of the command.
  var help: String {
    var lines = [summary, "", "Usage: " + usage, ""]
    var rows = operands.map { ($0.name, $0.help) }
    rows += allOptions.map { option in
      (option.name + (option.value.map { " " + $0 } ?? ""), option.help)
    }
    lines += Self.columns(rows)
    if !notes.isEmpty { lines += [""] + notes }
    return lines.joined(separator: "\n")
  }

  /// Returns the words of a choice.
  static func words<Word: RawRepresentable & CaseIterable>(_ type: Word.Type) -> [String]
  where Word.RawValue == String {
    type.allCases.map(\.rawValue)
  }

  /// Returns the value of a word; throws a usage error with the nearest valid word for any other.
  ///
  /// - Parameter what: The kind of the words, such as `format`.
  func choice<Word: RawRepresentable & CaseIterable>(
    _ word: String, _ what: String, of type: Word.Type
  ) throws(UsageError) -> Word where Word.RawValue == String {
    if let value = Word(rawValue: word) { return value }
    throw UsageError(
      "unknown \(what) \(word)", known: Self.words(type), word: word, form: self)
  }

  /// Formats rows in two columns, the second one aligned.
  static func columns(_ rows: [(String, String)]) -> [String] {
    let width = rows.map(\.0.count).max() ?? 0
    return rows.map { left, right in
      "  " + left + String(repeating: " ", count: width - left.count + 2) + right
    }
  }
}
