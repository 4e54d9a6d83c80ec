import Base
import RideCore

/// The bytes of one file, validated as UTF-8.
struct SourceText {
  /// The bytes, without a byte order mark.
  let bytes: [UInt8]
  private let lines: [ArraySlice<UInt8>]

  /// - Throws: `YAMLFault` at the first byte that is not UTF-8, or if the file is too large.
  init(_ file: [UInt8]) throws(YAMLFault) {
    let limit = RuleDirectory.fileSizeLimit
    guard file.count <= limit else {
      throw YAMLFault(
        location: SourceLocation(line: 1, column: 1), found: "a file of more than \(limit) bytes",
        expected: "its rules in several files")
    }
    bytes = Array(file.starts(with: [0xef, 0xbb, 0xbf]) ? file.dropFirst(3) : file[...])
    lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    if String(validating: bytes, as: UTF8.self) != nil { return }
    for (index, line) in lines.enumerated() {
      guard String(validating: line, as: UTF8.self) == nil else { continue }
      let (column, byte) = Self.firstBadByte(line)
      throw YAMLFault(
        location: SourceLocation(line: index + 1, column: column),
        found: "the byte 0x\(String(byte, radix: 16)), which is not UTF-8",
        expected: "the file saved as UTF-8")
    }
  }

  /// Returns a line, counted from 1; empty if there is none.
  func line(_ number: Int) -> String {
    lines.indices.contains(number - 1) ? String(decoding: lines[number - 1], as: UTF8.self) : ""
  }

  /// Returns the location of a byte.
  func location(ofByte offset: Int) -> SourceLocation {
    SourceLocation(ofByte: offset, in: bytes)
  }

  private static func firstBadByte(_ line: ArraySlice<UInt8>) -> (column: Int, byte: UInt8) {
    var length = 0
    var decoder = UTF8()
    var bytes = line.makeIterator()
    var column = 1
    while case .scalarValue(let scalar) = decoder.decode(&bytes) {
      length += UTF8.width(scalar)
      column += 1
    }
    return (column, line.dropFirst(length).first ?? 0)
  }
}

/// The reason why a file cannot be read as YAML at all.
struct YAMLFault: Error {
  let location: SourceLocation
  let found: String
  let expected: String
}
