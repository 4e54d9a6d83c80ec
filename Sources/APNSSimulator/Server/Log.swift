import Glibc

/// Writes lines to standard error; standard output is reserved for the ready line.
enum Log {
  static func write(_ text: String) {
    let line = Array("apns-simulator: \(text)\n".utf8)
    _ = unsafe Glibc.write(STDERR_FILENO, line, line.count)
  }
}
