/// A man page in the making, in the words of man(7).
struct Roff: CustomStringConvertible {
  private var lines: [String]

  /// - Parameter source: What the page's foot names.
  init(title: String, section: Int, source: String) {
    lines = [
      ".\\\" Made by `ridepulse man`.",
      ".TH \(title) \(section) \"\" \"\(source)\" \"User Commands\"",
      // A shell's words must not be hyphenated or stretched.
      ".nh", ".ad l",
    ]
  }

  /// The page as it stands.
  var description: String { lines.joined(separator: "\n") }

  mutating func section(_ title: String) { lines.append(".SH \(title)") }

  mutating func subsection(_ title: String) { lines.append(".SS \(Self.plain(title))") }

  /// A line that is roff already.
  mutating func raw(_ line: String) { lines.append(line) }

  mutating func text(_ text: String) { lines.append(Self.line(text)) }

  mutating func paragraph(_ text: String) { lines += [".PP", Self.line(text)] }

  /// A command line; what does not fit hangs below it.
  mutating func synopsis(_ usage: String) {
    lines += [".HP", Self.line(usage), ".br"]
  }

  /// A word in bold, its value in italics, and what it means.
  mutating func item(_ word: String, value: String? = nil, _ meaning: String) {
    let value = value.map { " \\fI\(Self.plain($0))\\fR" } ?? ""
    lines += [".TP", "\\fB\(Self.plain(word))\\fR\(value)", Self.line(meaning)]
  }

  /// A text at the beginning of a line, where a dot or an apostrophe would be a request.
  private static func line(_ text: String) -> String {
    let text = plain(text)
    return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
  }

  /// A text in which nothing means something to roff. Signs that a terminal of ASCII lacks are
  /// written out.
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
