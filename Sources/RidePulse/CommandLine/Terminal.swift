import Foundation
import RideCore

/// `1 push`, `2 pushes`.
func counted(_ count: Int, _ noun: String, _ plural: String? = nil) -> String {
  "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
}

/// Where results and complaints go.
enum Terminal {
  /// Whether people watch standard output.
  static let isInteractive = isatty(STDOUT_FILENO) == 1

  /// Whether what is written there may have colours (https://no-color.org).
  static func hasColour(_ environment: [String: String]) -> Bool {
    isInteractive && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
  }

  /// Writes a result. Whatever it quotes, it can't control the terminal; a value that may hold a
  /// line break has been escaped by `Escape.line` before.
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

  /// Writes a text as it is. A reader that went away is not an error.
  static func write(_ text: String, to descriptor: Int32) {
    FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).tryWrite(Data(text.utf8))
  }
}

extension FileHandle {
  fileprivate func tryWrite(_ data: Data) {
    try? write(contentsOf: data)
  }
}
