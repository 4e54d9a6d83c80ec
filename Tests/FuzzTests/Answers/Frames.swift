/// HTTP/2 frames as a server writes them, byte by byte.
enum Frames {
  enum Kind: UInt8 {
    case data, headers, priority, reset, settings, pushPromise, ping, goAway, windowUpdate
    case continuation
  }

  static let endStream: UInt8 = 0x1
  static let endHeaders: UInt8 = 0x4

  static func frame(
    _ kind: UInt8, flags: UInt8 = 0, stream: Int32 = 0, _ payload: [UInt8] = []
  ) -> [UInt8] {
    let size = UInt32(truncatingIfNeeded: payload.count)
    return number(size).dropFirst() + [kind, flags] + number(UInt32(bitPattern: stream)) + payload
  }

  static func frame(
    _ kind: Kind, flags: UInt8 = 0, stream: Int32 = 0, _ payload: [UInt8] = []
  ) -> [UInt8] {
    frame(kind.rawValue, flags: flags, stream: stream, payload)
  }

  static func settings(_ values: [(id: UInt16, value: UInt32)]) -> [UInt8] {
    frame(
      .settings, values.flatMap { [UInt8($0.id >> 8), UInt8($0.id & 0xff)] + number($0.value) })
  }

  static let settingsTaken = frame(.settings, flags: 0x1)

  static func ping(answer: Bool) -> [UInt8] {
    frame(.ping, flags: answer ? 0x1 : 0, [UInt8](repeating: 0, count: 8))
  }

  static func windowUpdate(_ stream: Int32, by size: UInt32) -> [UInt8] {
    frame(.windowUpdate, stream: stream, number(size))
  }

  static func reset(_ stream: Int32, code: UInt32) -> [UInt8] {
    frame(.reset, stream: stream, number(code))
  }

  static func goAway(last: Int32, code: UInt32, _ text: [UInt8]) -> [UInt8] {
    frame(.goAway, number(UInt32(bitPattern: last)) + number(code) + text)
  }

  static func headers(
    _ stream: Int32, _ fields: [(name: String, value: String)], ends: Bool
  ) -> [UInt8] {
    let block = fields.flatMap { field($0.name, $0.value) }
    return frame(.headers, flags: endHeaders | (ends ? endStream : 0), stream: stream, block)
  }

  static func data(_ stream: Int32, _ bytes: [UInt8], ends: Bool) -> [UInt8] {
    frame(.data, flags: ends ? endStream : 0, stream: stream, bytes)
  }

  /// Encodes a header field literally, without a table index and without Huffman coding.
  private static func field(_ name: String, _ value: String) -> [UInt8] {
    [0] + text(name) + text(value)
  }

  private static func text(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8.prefix(120))
    return [UInt8(bytes.count)] + bytes
  }

  private static func number(_ number: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
  }
}
