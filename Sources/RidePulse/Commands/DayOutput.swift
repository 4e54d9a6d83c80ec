import SystemSupport

/// Writes the lines of a day to a file, compressed if its name ends in `.gz`.
///
/// The file has its name only at the end: a command that fails or is killed leaves no incomplete day.
final class DayOutput {
  private let output: PreviewOutput
  private let deflater: GzipDeflater?

  /// - Throws: `CommandFailure` if the file can't be written.
  init(path: String) throws {
    output = try PreviewOutput(path: path, readers: .owner)
    deflater = path.hasSuffix(".gz") ? GzipDeflater() : nil
    if path.hasSuffix(".gz"), deflater == nil {
      throw CommandFailure("--output: zlib can't be initialized")
    }
  }

  /// Writes a line.
  func write(_ line: [UInt8]) throws {
    let bytes = line + [UInt8(ascii: "\n")]
    try output.write(deflater?.deflated(bytes, isLast: false) ?? bytes)
  }

  /// Completes the file under its name.
  func close() throws {
    if let deflater { try output.write(deflater.deflated([], isLast: true)) }
    try output.close()
  }
}
