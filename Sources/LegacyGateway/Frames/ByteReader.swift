/// Reads big-endian numbers and byte ranges from the front, never beyond the end.
struct ByteReader {
  private let bytes: ArraySlice<UInt8>
  private(set) var position: Int

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
  }

  var isAtEnd: Bool { position == bytes.endIndex }

  mutating func bytes(_ count: Int) throws(FrameParser.Stop) -> ArraySlice<UInt8> {
    guard count <= bytes.endIndex - position else { throw .more }
    defer { position += count }
    return bytes[position..<position + count]
  }

  mutating func byte() throws(FrameParser.Stop) -> UInt8 {
    UInt8(truncatingIfNeeded: Self.number(try bytes(1)))
  }

  mutating func short() throws(FrameParser.Stop) -> UInt16 {
    UInt16(truncatingIfNeeded: Self.number(try bytes(2)))
  }

  mutating func number() throws(FrameParser.Stop) -> UInt32 {
    Self.number(try bytes(4))
  }

  static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.reduce(0) { $0 << 8 | UInt32($1) }
  }
}
