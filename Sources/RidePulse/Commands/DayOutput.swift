import Foundation
import SystemSupport

/// Writes the lines of a day to a file, compressed if its name ends in `.gz`.
///
/// It writes `FILE.partial` and renames it at the end: a command that fails leaves no incomplete day.
final class DayOutput {
  private let path: String
  private let partial: String
  private let output: PreviewOutput
  private let deflater: GzipDeflater?
  private var isClosed = false

  /// - Throws: `CommandFailure` if the file can't be written.
  init(path: String) throws {
    self.path = path
    partial = path + ".partial"
    output = try PreviewOutput(path: partial)
    deflater = path.hasSuffix(".gz") ? GzipDeflater() : nil
    if path.hasSuffix(".gz"), deflater == nil {
      throw CommandFailure("--output: zlib can't be initialized")
    }
  }

  deinit { if !isClosed { try? FileManager.default.removeItem(atPath: partial) } }

  /// Writes a line.
  func write(_ line: [UInt8]) throws {
    let bytes = line + [UInt8(ascii: "\n")]
    try output.write(deflater?.deflated(bytes, isLast: false) ?? bytes)
  }

  /// Completes the file under its name.
  func close() throws {
    if let deflater { try output.write(deflater.deflated([], isLast: true)) }
    try output.flush()
    do {
      try? FileManager.default.removeItem(atPath: path)
      try FileManager.default.moveItem(atPath: partial, toPath: path)
    } catch {
      throw CommandFailure("--output: \(path) can't be written: \(error.localizedDescription)")
    }
    isClosed = true
  }
}
