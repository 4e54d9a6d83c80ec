import Glibc

package struct FileError: Error, CustomStringConvertible {
  package let description: String

  package init(_ call: String, _ path: String) {
    let reason = unsafe String(cString: strerror(errno))
    description = "\(path): \(call): \(reason)"
  }
}

/// Reads and writes small files as a whole.
package enum File {
  package static func exists(_ path: String) -> Bool {
    unsafe access(path, F_OK) == 0
  }

  /// Creates a directory, unless it exists.
  package static func makeDirectory(_ path: String) throws(FileError) {
    guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else {
      throw FileError("mkdir", path)
    }
  }

  package static func read(_ path: String) throws(FileError) -> [UInt8] {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw FileError("open", path) }
    defer { close(file) }
    return try readAll(file, path)
  }

  private static func readAll(_ file: Int32, _ path: String) throws(FileError) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe Glibc.read(file, &chunk, chunk.count)
      guard count >= 0 else { throw FileError("read", path) }
      if count == 0 { return bytes }
      bytes += chunk[..<count]
    }
  }

  /// Parses a file's content; an error names the file.
  package static func parse<Value>(
    _ content: [UInt8], of path: String, _ body: ([UInt8]) throws -> Value
  ) throws -> Value {
    do {
      return try body(content)
    } catch let error as FormatError {
      throw FormatError(
        path: path + (error.path.isEmpty ? "" : ": \(error.path)"), found: error.found,
        expected: error.expected)
    }
  }

  /// Reads and parses the file that a command names; `-` is standard input.
  package static func parseInput<Value>(
    _ file: String, _ body: ([UInt8]) throws -> Value
  ) throws -> Value {
    if file != "-" { return try parse(read(file), of: file, body) }
    let name = "standard input"
    return try parse(readAll(STDIN_FILENO, name), of: name, body)
  }

  /// Writes by a rename, so that no reader sees half a file.
  package static func write(_ bytes: [UInt8], to path: String, mode: UInt32) throws(FileError) {
    let draft = try draft(bytes, for: path, mode: mode)
    guard unsafe rename(draft, path) == 0 else { throw FileError("rename", path) }
  }

  /// Creates a file at once with its whole content; leaves one that exists unchanged.
  package static func create(_ bytes: [UInt8], at path: String, mode: UInt32) throws(FileError) {
    let draft = try draft(bytes, for: path, mode: mode)
    defer { unsafe unlink(draft) }
    guard unsafe link(draft, path) == 0 || errno == EEXIST else { throw FileError("link", path) }
  }

  private static func draft(
    _ bytes: [UInt8], for path: String, mode: UInt32
  ) throws(FileError) -> String {
    let draft = "\(path).\(getpid()).new"
    let file = unsafe open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
    guard file >= 0 else { throw FileError("open", draft) }
    let written = unsafe Glibc.write(file, bytes, bytes.count)
    close(file)
    guard written == bytes.count else { throw FileError("write", draft) }
    return draft
  }
}
