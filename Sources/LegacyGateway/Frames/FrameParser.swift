package import RideCore

/// Parses frames of the legacy binary protocol, commands 0, 1 and 2, from a stream of bytes.
///
/// Lengths in a frame are accepted only within their limits, so at most one incomplete frame is
/// kept in addition to the bytes that were appended.
package struct FrameParser: Sendable {
  /// The result of parsing the bytes received so far.
  package enum Step: Hashable, Sendable {
    /// A complete push.
    case push(LegacyPush)
    /// An error; nothing after it is parsed.
    case refused(ErrorPacket)
    /// The frame is not complete.
    case more
  }

  /// The maximum number of item bytes in a frame of command 2.
  package static let frameLimit = 5120

  private let app: App
  private var buffer: [UInt8] = []
  private var start = 0
  private var refusal: ErrorPacket?

  /// Creates a parser for the frames of one app's sender.
  package init(app: App) {
    self.app = app
  }

  /// True if part of a frame has been received.
  package var hasPart: Bool { partSize > 0 }

  /// The number of bytes that are not parsed yet.
  package var partSize: Int { buffer.count - start }

  /// Appends received bytes.
  package mutating func append(_ bytes: some Collection<UInt8>) {
    if refusal != nil { return }
    buffer.removeSubrange(..<start)
    start = 0
    buffer.append(contentsOf: bytes)
  }

  /// Returns the next push, or why there is none.
  package mutating func next() -> Step {
    if let refusal { return .refused(refusal) }
    var reader = ByteReader(buffer[start...])
    do throws(Stop) {
      let push = try Self.frame(&reader, app)
      start = reader.position
      return .push(push)
    } catch {
      switch error {
      case .more: return .more
      case .refused(let packet):
        refusal = packet
        buffer = []
        start = 0
        return .refused(packet)
      }
    }
  }

  /// Why a frame could not be parsed.
  enum Stop: Error {
    case more
    case refused(ErrorPacket)
  }

  private static func frame(_ reader: inout ByteReader, _ app: App) throws(Stop) -> LegacyPush {
    switch try reader.byte() {
    case 0: return try simple(&reader, FrameItems(), app)
    case 1:
      var items = FrameItems()
      items.identifier = try reader.number()
      items.expiration = try reader.number()
      return try simple(&reader, items, app)
    case 2:
      let length = try reader.number()
      guard length <= frameLimit else { throw .refused(ErrorPacket(.payloadSize, identifier: 0)) }
      return try FrameItems(try reader.bytes(Int(length))).push(of: app)
    default: throw .refused(ErrorPacket(.unknown, identifier: 0))
    }
  }

  /// Parses token and payload, each after its length; a length is checked before the bytes it
  /// counts.
  private static func simple(
    _ reader: inout ByteReader, _ known: FrameItems, _ app: App
  ) throws(Stop) -> LegacyPush {
    var items = known
    items.token = try reader.bytes(Int(try items.check(tokenSize: try reader.short())))
    items.payload = try reader.bytes(Int(try items.check(payloadSize: try reader.short())))
    return try items.push(of: app)
  }
}

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
