import RideCore

/// What may stand behind a command's name.
struct CommandForm {
  /// A word that begins with `--`.
  struct Option {
    var name: String
    /// What its value is called in the help; nil where it takes none.
    var value: String?
    var isRepeatable = false
    /// All that its value may be, where that is a short list.
    var choices: [String] = []
    var help: String
  }

  /// A word in its place.
  struct Operand {
    var name: String
    var isOptional = false
    /// All that it may be, where that is a short list.
    var choices: [String] = []
    var help: String
  }

  var name: String
  var summary: String
  var operands: [Operand] = []
  var options: [Option] = []
  /// What the help says below the options, line by line.
  var notes: [String] = []

  /// Options that every command has.
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

  /// `ridepulse trigger EVENT --ride ID [--data KEY=VALUE]... [--dry-run]`
  var usage: String {
    let words =
      operands.map { $0.isOptional ? "[\($0.name)]" : $0.name }
      + options.map { option in
        let word = option.name + (option.value.map { " " + $0 } ?? "")
        return option.isRepeatable ? "[\(word)]..." : "[\(word)]"
      }
    return (["ridepulse", name] + words).joined(separator: " ")
  }

  /// The whole help page of the command.
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

  /// The words of a choice.
  static func words<Word: RawRepresentable & CaseIterable>(_ type: Word.Type) -> [String]
  where Word.RawValue == String {
    type.allCases.map(\.rawValue)
  }

  /// One of the words of a choice; any other is refused with the nearest of them.
  ///
  /// - Parameter what: What the words are, such as `format`.
  func choice<Word: RawRepresentable & CaseIterable>(
    _ word: String, _ what: String, of type: Word.Type
  ) throws(UsageError) -> Word where Word.RawValue == String {
    if let value = Word(rawValue: word) { return value }
    throw UsageError(
      "unknown \(what) \(word)", known: Self.words(type), word: word, form: self)
  }

  /// Two columns, the second one aligned.
  static func columns(_ rows: [(String, String)]) -> [String] {
    let width = rows.map(\.0.count).max() ?? 0
    return rows.map { left, right in
      "  " + left + String(repeating: " ", count: width - left.count + 2) + right
    }
  }
}
