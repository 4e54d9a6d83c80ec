internal import Glibc

/// Reads a file line by line in bounded memory; one that is compressed with gzip is inflated.
package final class LineReader {
  /// The maximum size of a line, in bytes.
  package static let lineLimit = 4 << 20
  private static let pieceSize = 1 << 18

  private let descriptor: Int32
  private var inflater: GzipInflater?
  private var isFirstPiece = true
  private var isAtEnd = false
  private var buffer: [UInt8] = []
  private var start = 0

  /// Opens a regular file.
  package init(_ path: String) throws(RegularFile.Failure) {
    descriptor = try RegularFile.opened(path).descriptor
  }

  deinit { close(descriptor) }

  /// Returns the next line without its line feed; nil at the end.
  package func next() throws(RegularFile.Failure) -> [UInt8]? {
    var searched = start
    while true {
      if let end = buffer[searched...].firstIndex(of: 10) {
        let line = Array(buffer[start..<end])
        start = end + 1
        return line
      }
      searched = buffer.count - start
      if isAtEnd { return rest() }
      if searched > Self.lineLimit {
        throw RegularFile.Failure(description: "a line has more than \(Self.lineLimit) bytes")
      }
      buffer.removeFirst(start)
      start = 0
      try readPiece()
    }
  }

  /// Returns a last line that no line feed ends.
  private func rest() -> [UInt8]? {
    let line = Array(buffer[start...])
    buffer = []
    start = 0
    return line.isEmpty ? nil : line
  }

  private func readPiece() throws(RegularFile.Failure) {
    let piece = try RegularFile.piece(of: descriptor, size: Self.pieceSize)
    if isFirstPiece, piece.starts(with: [0x1f, 0x8b]) {
      do { inflater = try GzipInflater() } catch {
        throw RegularFile.Failure(description: error.text)
      }
    }
    isFirstPiece = false
    isAtEnd = piece.isEmpty
    guard let inflater else {
      buffer += piece
      return
    }
    if isAtEnd, !inflater.isComplete {
      throw RegularFile.Failure(description: "the gzip data ends too early")
    }
    do { buffer += try inflater.inflated(piece) } catch {
      throw RegularFile.Failure(description: error.text)
    }
  }
}
