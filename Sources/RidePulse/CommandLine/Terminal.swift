import Foundation
import RideCore

/// Formats a count with its noun: `1 push`, `2 pushes`.
func counted(_ count: Int, _ noun: String, _ plural: String? = nil) -> String {
  "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
}

/// Writes results to standard output, and errors and log lines to standard error.
enum Terminal {
  /// Whether standard output is a terminal.
  static let isInteractive = isatty(STDOUT_FILENO) == 1

  /// Whether standard output may have colours (https://no-color.org).
  static func hasColour(_ environment: [String: String]) -> Bool {
    isInteractive && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
  }

  /// Writes a result. Control characters in it are escaped, so that quoted text can't control the
  /// terminal; `Escape.line` must already have escaped values that may contain a line break.
  static func print(_ text: String) {
    write(Escape.lines(text) + "\n", to: STDOUT_FILENO)
  }

  /// Writes a result that is one JSON text.
  static func print(json: String) {
    write(Escape.json(json) + "\n", to: STDOUT_FILENO)
  }

  /// Writes a result whose escape sequences are our own, such as colours.
  static func print(styled text: String) {
    write(text + "\n", to: STDOUT_FILENO)
  }

  /// Writes an error or a log line.
  static func complain(_ text: String) {
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
