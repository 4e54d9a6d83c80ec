import Glibc

/// Writes a record file such as `requests.jsonl`.
///
/// Lines are collected in memory and handed to the kernel in one write, before the answers of the
/// same loop turn are sent.
@safe package final class Recorder {
  private let path: String
  private let file: Int32
  private var lines: [UInt8] = []
  private var hasFailed = false

  package init(path: String) throws(FileError) {
    self.path = path
    file = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw FileError("open", path) }
  }

  deinit {
    flush()
    close(file)
  }

  /// Lets the closure append one line, with its end.
  package func append(_ write: (inout [UInt8]) -> Void) {
    write(&lines)
  }

  package func append(_ json: JSON) {
    lines += json.serialized
    lines.append(UInt8(ascii: "\n"))
  }

  package func flush() {
    if lines.isEmpty { return }
    var written = 0
    while written < lines.count {
      let count = unsafe lines.withUnsafeBytes { bytes in
        let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
        return unsafe write(file, rest.baseAddress, rest.count)
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else {
        logFailureOnce()
        break
      }
      written += count
    }
    lines.removeAll(keepingCapacity: true)
  }

  /// A full disk must not fill the log as well.
  private func logFailureOnce() {
    if !hasFailed { Log.write(FileError("write", path).description) }
    hasFailed = true
  }
}
