/// Builds frames byte by byte, as old senders do.
enum FrameBuilder {
  static let token = [UInt8](repeating: 0xc1, count: 32)
  static let payload = Array(#"{"aps":{"alert":"Hi"}}"#.utf8)

  static func short(_ number: Int) -> [UInt8] {
    [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
  }

  static func number(_ number: Int) -> [UInt8] { short(number >> 16) + short(number) }

  static func item(_ kind: UInt8, _ bytes: [UInt8]) -> [UInt8] {
    [kind] + short(bytes.count) + bytes
  }

  static func frame(_ items: [UInt8]...) -> [UInt8] {
    let bytes = items.flatMap { $0 }
    return [2] + number(bytes.count) + bytes
  }

  /// Returns a frame of command 2 with all its items.
  static func push(
    _ identifier: Int, token: [UInt8] = token, payload: [UInt8] = payload, expiration: Int = 0,
    priority: UInt8 = 10
  ) -> [UInt8] {
    frame(
      item(1, token), item(2, payload), item(3, number(identifier)), item(4, number(expiration)),
      item(5, [priority]))
  }

  static func simple(token: [UInt8] = token, payload: [UInt8] = payload) -> [UInt8] {
    [0] + short(token.count) + token + short(payload.count) + payload
  }

  static func enhanced(
    _ identifier: Int, token: [UInt8] = token, payload: [UInt8] = payload, expiration: Int = 0
  ) -> [UInt8] {
    [1] + number(identifier) + number(expiration)
      + simple(token: token, payload: payload).dropFirst()
  }
}
