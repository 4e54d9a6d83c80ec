package import RideCore

/// Reads frames of the old binary protocol, command 0, 1 and 2, from bytes as they come.
///
/// What a frame says of lengths is believed only within its limits, so no more than one frame is
/// ever kept beyond what was given.
package struct FrameParser: Sendable {
  /// What the bytes so far give.
  package enum Step: Hashable, Sendable {
    /// A whole push.
    case push(LegacyPush)
    /// What can't be read; nothing after it is looked at.
    case refused(ErrorPacket)
    /// No whole frame is there.
    case more
  }

  /// The most bytes of items in a frame of command 2.
  package static let frameLimit = 5120

  private let app: App
  private var buffer: [UInt8] = []
  private var start = 0
  private var refusal: ErrorPacket?

  /// A parser of the frames of an app's sender.
  package init(app: App) {
    self.app = app
  }

  /// Whether a part of a frame is there.
  package var hasPart: Bool { partSize > 0 }

  /// How many bytes wait for the rest of their frame, or to be looked at.
  package var partSize: Int { buffer.count - start }

  /// Takes what has come.
  package mutating func append(_ bytes: some Collection<UInt8>) {
    if refusal != nil { return }
    buffer.removeSubrange(..<start)
    start = 0
    buffer.append(contentsOf: bytes)
  }

  /// The next push, or why there is none.
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

  /// Why a frame is not read.
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

  /// Token and payload, each behind its length: each length is judged before what it counts.
  private static func simple(
    _ reader: inout ByteReader, _ known: FrameItems, _ app: App
  ) throws(Stop) -> LegacyPush {
    var items = known
    items.token = try reader.bytes(Int(try items.check(tokenSize: try reader.short())))
    items.payload = try reader.bytes(Int(try items.check(payloadSize: try reader.short())))
    return try items.push(of: app)
  }
}
