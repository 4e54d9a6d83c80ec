import Foundation

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

  /// Writes a result.
  static func print(_ text: String) {
    write(text + "\n", to: STDOUT_FILENO)
  }

  /// Writes a complaint.
  static func complain(_ text: String) {
    write(text + "\n", to: STDERR_FILENO)
  }

  /// Writes all of a text; a reader that went away is nobody to tell about it.
  static func write(_ text: String, to descriptor: Int32) {
    FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).tryWrite(Data(text.utf8))
  }
}

extension FileHandle {
  fileprivate func tryWrite(_ data: Data) {
    try? write(contentsOf: data)
  }
}
