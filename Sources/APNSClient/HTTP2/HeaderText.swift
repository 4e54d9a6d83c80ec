import RideCore

/// Writes header values as bytes, without creating a String for each.
extension [UInt8] {
  /// Appends `/3/device/<token>` or `/4/broadcasts/apps/<bundle ID>`.
  mutating func append(pathTo address: PushAddress) {
    append(contentsOf: address.pathPrefix.utf8)
    append(contentsOf: address.pathEnd.utf8)
  }

  /// Appends a UUID in lower case, 8-4-4-4-12, as `PushID.description` does.
  mutating func append(uuid bits: UInt128) {
    // Bit n puts a dash after the nibble that has n nibbles to its right in its half.
    append(hex: UInt64(truncatingIfNeeded: bits >> 64), dashesAfter: 1 << 8 | 1 << 4 | 1 << 0)
    append(hex: UInt64(truncatingIfNeeded: bits), dashesAfter: 1 << 12)
  }

  private mutating func append(hex word: UInt64, dashesAfter: UInt16) {
    for nibble in stride(from: 15, through: 0, by: -1) {
      let digit = UInt8(truncatingIfNeeded: word >> UInt64(4 * nibble)) & 0xf
      append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit)
      if dashesAfter >> UInt16(nibble) & 1 == 1 { append(UInt8(ascii: "-")) }
    }
  }

  /// Appends a number in decimal digits; a negative number counts as 0.
  mutating func append(decimal number: Int64) {
    let start = count
    var rest = Swift.max(0, number)
    repeat {
      append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    } while rest > 0
    self[start...].reverse()
  }
}
