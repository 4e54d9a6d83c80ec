/// Builds a man page with the macros of man(7).
struct Roff: CustomStringConvertible {
  private var lines: [String]

  /// - Parameter source: The text of the page footer.
  init(title: String, section: Int, source: String) {
    lines = [
      ".\\\" Made by `ridepulse man`.",
      ".TH \(title) \(section) \"\" \"\(source)\" \"User Commands\"",
      // Shell words must not be hyphenated or stretched.
      ".nh", ".ad l",
    ]
  }

  /// The page so far.
  var description: String { lines.joined(separator: "\n") }

  mutating func section(_ title: String) { lines.append(".SH \(title)") }

  mutating func subsection(_ title: String) { lines.append(".SS \(Self.plain(title))") }

  /// Appends a line that is already roff.
  mutating func raw(_ line: String) { lines.append(line) }

  mutating func text(_ text: String) { lines.append(Self.line(text)) }

  mutating func paragraph(_ text: String) { lines += [".PP", Self.line(text)] }

  /// Appends a command line with a hanging indent.
  mutating func synopsis(_ usage: String) {
    lines += [".HP", Self.line(usage), ".br"]
  }

  /// Appends a word in bold, its value in italics, and its meaning.
  mutating func item(_ word: String, value: String? = nil, _ meaning: String) {
    let value = value.map { " \\fI\(Self.plain($0))\\fR" } ?? ""
    lines += [".TP", "\\fB\(Self.plain(word))\\fR\(value)", Self.line(meaning)]
  }

  /// Returns a text as an input line, escaping a leading dot or apostrophe, which would be a
  /// request.
  private static func line(_ text: String) -> String {
    let text = plain(text)
    return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
  }

  /// Escapes the characters that are special in roff, and spells out those that an ASCII terminal
  /// lacks.
  static func plain(_ text: String) -> String {
    text.map { character in
      switch character {
      case "\\": "\\e"
      case "-": "\\-"
      case "…": "..."
      case "’": "'"
      default: String(character)
      }
    }.joined()
  }
}
