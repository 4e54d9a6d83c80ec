import RideCore

/// The items of one frame, complete or partial.
struct FrameItems {
  var token: ArraySlice<UInt8>?
  var payload: ArraySlice<UInt8>?
  var identifier: UInt32?
  var expiration: UInt32?
  var priority: UInt8?
  /// True if the items can't be separated, or if one is unknown, malformed or duplicated.
  private var isBroken = false

  init() {}

  /// Parses the items of a command 2 frame.
  ///
  /// A malformed frame is parsed as far as possible, so that its identifier may be known.
  init(_ bytes: ArraySlice<UInt8>) {
    var reader = ByteReader(bytes)
    do throws(FrameParser.Stop) {
      while !reader.isAtEnd {
        let kind = try reader.byte()
        add(kind, try reader.bytes(Int(try reader.short())))
      }
    } catch {
      isBroken = true
    }
  }

  private mutating func add(_ kind: UInt8, _ bytes: ArraySlice<UInt8>) {
    switch kind {
    case 1 where token == nil: token = bytes
    case 2 where payload == nil: payload = bytes
    case 3 where identifier == nil && bytes.count == 4: identifier = ByteReader.number(bytes)
    case 4 where expiration == nil && bytes.count == 4: expiration = ByteReader.number(bytes)
    case 5 where priority == nil && bytes.count == 1: priority = bytes.first
    default: isBroken = true
    }
  }

  private func refused(_ status: ErrorPacket.Status) -> FrameParser.Stop {
    .refused(ErrorPacket(status, identifier: identifier ?? 0))
  }

  func check(tokenSize size: UInt16) throws(FrameParser.Stop) -> UInt16 {
    if size == 0 { throw refused(.missingToken) }
    if size != 32 { throw refused(.tokenSize) }
    return size
  }

  func check(payloadSize size: UInt16) throws(FrameParser.Stop) -> UInt16 {
    if size == 0 { throw refused(.missingPayload) }
    if size > PushRequest.payloadLimit { throw refused(.payloadSize) }
    return size
  }

  /// Returns the push, or throws the error in the items.
  func push(of app: App) throws(FrameParser.Stop) -> LegacyPush {
    if isBroken { throw refused(.processing) }
    let token = token ?? []
    _ = try check(tokenSize: UInt16(clamping: token.count))
    _ = try check(payloadSize: UInt16(clamping: payload?.count ?? 0))
    guard let token = DeviceToken(Self.hex(token)),
      let payload = payload.flatMap({ LegacyPush.payload($0) }),
      // The protocol has no priority 1.
      let priority = PushPriority(rawValue: Int(priority ?? 10)), priority != .unobtrusive
    else { throw refused(.processing) }
    return LegacyPush(
      app: app, token: token, payload: payload, expiration: expiration, priority: priority,
      identifier: identifier)
  }

  private static func hex(_ bytes: ArraySlice<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
