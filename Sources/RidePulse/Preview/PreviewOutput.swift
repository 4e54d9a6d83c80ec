import Foundation

/// Writes a preview to standard output or a file, in large chunks.
final class PreviewOutput {
  private let handle: FileHandle
  private let name: String
  private var buffer: [UInt8] = []

  /// - Throws: `CommandFailure` if the file can't be written.
  init(path: String?) throws {
    guard let path else {
      (handle, name) = (FileHandle.standardOutput, "standard output")
      return
    }
    guard FileManager.default.createFile(atPath: path, contents: nil),
      let handle = FileHandle(forWritingAtPath: path)
    else { throw CommandFailure("--output: \(path) can't be written") }
    (self.handle, name) = (handle, path)
  }

  func write(_ text: String) throws { try write(Array(text.utf8)) }

  func write(_ bytes: [UInt8]) throws {
    buffer += bytes
    if buffer.count >= 1 << 16 { try flush() }
  }

  func flush() throws {
    if buffer.isEmpty { return }
    do {
      try handle.write(contentsOf: Data(buffer))
    } catch {
      throw CommandFailure("\(name) can't be written: \(error.localizedDescription)")
    }
    buffer.removeAll(keepingCapacity: true)
  }
}
