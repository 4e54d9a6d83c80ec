import Glibc

/// Standard error, one line each; standard output belongs to the ready line.
enum Log {
  static func write(_ text: String) {
    let line = Array("apns-simulator: \(text)\n".utf8)
    _ = unsafe Glibc.write(STDERR_FILENO, line, line.count)
  }
}
