/// Generates random lower-case UUIDs, version 4.
enum MessageID {
  static func random() -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(36)
    let high = UInt64.random(in: .min ... .max) & ~0xF000 | 0x4000
    let low = UInt64.random(in: .min ... .max) & ~(3 << 62) | 1 << 63
    for index in 0..<32 {
      if [8, 12, 16, 20].contains(index) { bytes.append(UInt8(ascii: "-")) }
      let half = index < 16 ? high : low
      bytes.append([UInt8].hexDigits[Int(half >> UInt64(60 - 4 * (index % 16)) & 15)])
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
