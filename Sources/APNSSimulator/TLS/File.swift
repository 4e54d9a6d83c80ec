import Glibc

struct FileError: Error, CustomStringConvertible {
  let description: String

  init(_ call: String, _ path: String) {
    let reason = unsafe String(cString: strerror(errno))
    description = "\(path): \(call): \(reason)"
  }
}

/// Reads and writes small files as a whole.
enum File {
  static func exists(_ path: String) -> Bool {
    unsafe access(path, F_OK) == 0
  }

  static func read(_ path: String) throws(FileError) -> [UInt8] {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw FileError("open", path) }
    defer { close(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe Glibc.read(file, &chunk, chunk.count)
      guard count >= 0 else { throw FileError("read", path) }
      if count == 0 { return bytes }
      bytes += chunk[..<count]
    }
  }

  /// Writes by a rename, so that no reader sees half a file.
  static func write(_ bytes: [UInt8], to path: String, mode: mode_t) throws(FileError) {
    let draft = path + ".new"
    let file = unsafe open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
    guard file >= 0 else { throw FileError("open", draft) }
    let written = unsafe Glibc.write(file, bytes, bytes.count)
    close(file)
    guard written == bytes.count else { throw FileError("write", draft) }
    guard unsafe rename(draft, path) == 0 else { throw FileError("rename", path) }
  }
}
