import RideCore

/// A hash that is the same in every run and on every machine; it distinguishes, and protects nothing.
struct StableHash {
  private(set) var value: UInt64 = 0x9e37_79b9_7f4a_7c15

  mutating func add(_ word: UInt64) {
    value = (value ^ word) &* 0xff51_afd7_ed55_8ccd
    value ^= value >> 32
  }

  /// Adds bytes, eight at a time, and their number.
  mutating func add(_ bytes: some Collection<UInt8>) {
    var word: UInt64 = 0
    var count = 0
    for byte in bytes {
      word = word << 8 | UInt64(byte)
      count += 1
      if count & 7 == 0 { add(word) }
    }
    add(word)
    add(UInt64(count))
  }

  mutating func add(_ text: String) { add(text.utf8) }
}
