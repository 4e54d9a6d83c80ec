import Base
import PostgresStore
import RideCore

/// The operands and options of a command: arguments are parsed and validated by it; help, man page and
/// completions follow it.
struct CommandForm {
  struct Option {
    var name: String
    /// The placeholder of its value in the help; nil if it takes none.
    var value: String?
    var isRequired = false
    var isRepeatable = false
    /// All valid values, if they are a short list.
    var choices: [String] = []
    var help: String

    /// `--ride ID`
    var label: String { name + (value.map { " " + $0 } ?? "") }
  }

  struct Operand {
    var name: String
    var isOptional = false
    /// Whether it may be given more than once; only the last one of a form.
    var isRepeatable = false
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
  /// The role whose rights it needs; nil for the schema's owner.
  var role: Role? = .engine

  /// The options of every command.
  static let common: [Option] = [
    .choice("--log-format", "FORMAT", words(LogWriter.Format.self), default: "text"),
    .choice("--log-level", "LEVEL", Log.Level.allCases.map(\.name), default: "info"),
    Option(
      name: "--cell", value: "NAME", help: "the cell of RIDEPULSE_CELLS that the command is about"),
    Option(name: "--help", help: "print this and do nothing"),
  ]

  var allOptions: [Option] { options + Self.common }

  /// The usage line: `ridepulse trigger EVENT --ride ID [--data KEY=VALUE]... [--dry-run]`.
  var usage: String {
    let words =
      operands.map { operand in
        let name = operand.isRepeatable ? operand.name + "..." : operand.name
        return operand.isOptional ? "[\(name)]" : name
      }
      + options.map { option in
        let word = option.isRequired ? option.label : "[\(option.label)]"
        return option.isRepeatable ? word + "..." : word
      }
    return (["ridepulse", name] + words).joined(separator: " ")
  }

  var help: String {
    var rows = operands.map { ($0.name, $0.help) } + allOptions.map { ($0.label, $0.help) }
    if !operands.isEmpty { rows.append(("--", "ends the options, for operands that begin with -")) }
    var lines = [summary, "", "Usage: " + usage, ""] + Self.columns(rows)
    if !notes.isEmpty { lines += [""] + notes }
    return lines.joined(separator: "\n")
  }

  static func words<Word: RawRepresentable & CaseIterable>(_ type: Word.Type) -> [String]
  where Word.RawValue == String {
    type.allCases.map(\.rawValue)
  }

  /// Formats rows in two columns, the second one aligned.
  static func columns(_ rows: [(String, String)]) -> [String] {
    let width = rows.map(\.0.count).max() ?? 0
    return rows.map { "  " + padded($0, to: width + 2) + $1 }
  }

  /// `table, json or html`
  fileprivate static func list(_ words: [String]) -> String {
    let first = words.dropLast().joined(separator: ", ")
    return first.isEmpty ? words.joined() : "\(first) or \(words.last ?? "")"
  }
}

extension CommandForm.Option {
  /// An option with a short list of values, which the help lists with the default.
  static func choice(
    _ name: String, _ value: String, _ words: [String], default standard: String
  ) -> Self {
    Self(
      name: name, value: value, choices: words,
      help: "\(CommandForm.list(words)) (\(standard))")
  }

  static let format = choice(
    "--format", "FORMAT", CommandForm.words(OutputFormat.self), default: "table")

  static let schedules = Self(
    name: "--schedules", value: "DIR",
    help: "the rule directory (RIDEPULSE_SCHEDULES, or schedules)")
}

extension CommandForm.Operand {
  /// An operand with a short list of values, which the help lists.
  static func choice(_ name: String, _ words: [String]) -> Self {
    Self(name: name, choices: words, help: CommandForm.list(words))
  }
}

/// The format of a command's results: for people, or for machines.
enum OutputFormat: String, CaseIterable {
  case table, json
}
