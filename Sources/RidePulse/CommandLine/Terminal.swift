import Base
import Foundation
import RideCore

/// Writes results to standard output, and errors and log lines to standard error.
enum Terminal {
  /// Whether standard output is a terminal.
  static let isInteractive = isatty(STDOUT_FILENO) == 1

  /// Whether standard error is a terminal.
  static let showsErrors = isatty(STDERR_FILENO) == 1

  /// Whether standard output may have colours (https://no-color.org).
  static func hasColour(_ environment: [String: String]) -> Bool {
    isInteractive && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
  }

  /// Writes a result. Control characters in it are escaped, so that quoted text can't control the
  /// terminal; `Escape.line` must already have escaped values that may contain a line break.
  static func print(_ text: String) {
    write(ofCell(Escape.lines(text)) + "\n", to: STDOUT_FILENO)
  }

  /// Returns a result of one of several cells under the cell's name.
  private static func ofCell(_ text: String) -> String {
    Cell.current?.name.map { "cell \($0)\n\n\(text)\n" } ?? text
  }

  /// Writes a result that is one JSON value.
  static func print(json value: JSONValue) {
    var json = value
    if let cell = Cell.current?.name {
      var members: [String: JSONValue] =
        if case .object(let own) = value { own } else { ["result": value] }
      members["cell"] = .string(cell)
      json = .object(members)
    }
    write(Escape.json(json.text) + "\n", to: STDOUT_FILENO)
  }

  /// Writes a result whose escape sequences are our own, such as colours.
  static func print(styled text: String) {
    write(ofCell(text) + "\n", to: STDOUT_FILENO)
  }

  /// Writes an error or a log line.
  static func printError(_ text: String) {
    write(Escape.lines(text) + "\n", to: STDERR_FILENO)
  }

  /// Writes a text unchanged. A closed pipe is not an error.
  static func write(_ text: String, to descriptor: Int32) {
    FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).tryWrite(Data(text.utf8))
  }
}

extension FileHandle {
  fileprivate func tryWrite(_ data: Data) {
    try? write(contentsOf: data)
  }
}

/// A progress line on the terminal; shows nothing if standard error is not a terminal.
struct ProgressLine {
  private let isShown = Terminal.showsErrors
  private var last: ContinuousClock.Instant?

  /// Shows the progress, a few times per second at most.
  mutating func show(_ text: @autoclosure () -> String) {
    let now = ContinuousClock.now
    guard isShown, last.map({ now - $0 > .milliseconds(200) }) ?? true else { return }
    last = now
    Terminal.write("\r\u{1b}[K" + Escape.line(text()), to: STDERR_FILENO)
  }

  func end() {
    if isShown { Terminal.write("\r\u{1b}[K", to: STDERR_FILENO) }
  }
}

/// Formats a value as one word of a shell command for a person to paste.
enum ShellText {
  /// Returns the word unchanged if no shell would change it, else in quotes. An unprintable scalar
  /// needs `$'…'`, which bash and zsh support.
  static func word(_ text: String) -> String {
    let scalars = text.unicodeScalars
    if scalars.contains(where: \.isUnprintable) {
      return "$'" + scalars.map(ansiC).joined() + "'"
    }
    if !scalars.isEmpty, scalars.allSatisfy({ isPlain($0) }) { return text }
    if !scalars.contains("'") { return "'\(text)'" }
    // An interactive bash expands ! within double quotes.
    if !scalars.contains(where: { ["$", "`", "\\", "\"", "!"].contains($0) }) {
      return "\"\(text)\""
    }
    return "'" + scalars.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
  }

  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_", "-", ".", "/", ":", "=", "@", "%", "+", ",": true
    default: false
    }
  }

  private static func ansiC(_ scalar: Unicode.Scalar) -> String {
    if scalar == "'" || scalar == "\\" { return "\\\(scalar)" }
    if !scalar.isUnprintable { return String(scalar) }
    return String(scalar).utf8.map { byte in
      "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
  }
}
