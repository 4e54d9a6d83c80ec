import Glibc

/// Writes lines to standard error, and to standard output the ready line and the help.
package enum Log {
  private static let program =
    CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "simulator"

  package static func write(_ text: String) {
    let line = Array("\(program): \(text)\n".utf8)
    _ = unsafe Glibc.write(STDERR_FILENO, line, line.count)
  }

  /// Writes to standard output directly, so that no buffer delays the ready line.
  package static func print(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe Glibc.write(STDOUT_FILENO, bytes, bytes.count)
  }
}
