package import Base

/// A value of `apns-id`: a UUID derived from the subject of the push, so that every attempt, on
/// every node, after every restart, has the same one.
package struct PushID: Hashable, Sendable {
  /// The 128 bits of the UUID.
  package let bits: UInt128

  /// Derives the ID from these parts; the same parts always give the same ID.
  ///
  /// It is a version 8 UUID with 122 bits of FNV-1a: it distinguishes pushes, but protects no
  /// secret.
  package init(of parts: String...) {
    var hash: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d
    for part in parts {
      let bytes = part.utf8Span.span
      for index in bytes.indices {
        hash = (hash ^ UInt128(bytes[index])) &* 0x100_0000_0000_0000_0000_013b
      }
      // Each part ends with a byte that no UTF-8 text contains: ("ab", "c") differs from ("a",
      // "bc").
      hash = (hash ^ 0xff) &* 0x100_0000_0000_0000_0000_013b
    }
    let version: UInt128 = 0x8 << 76
    let variant: UInt128 = 0b10 << 62
    bits = hash & ~(0xf << 76) & ~(0b11 << 62) | version | variant
  }

  /// Parses the canonical text form in upper or lower case; nil for anything else.
  package init?(_ text: String) {
    var bits: UInt128 = 0
    var position = 0
    for character in text.utf8 {
      defer { position += 1 }
      if [8, 13, 18, 23].contains(position) {
        guard character == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let digit = Character(UnicodeScalar(character)).hexDigitValue else { return nil }
      bits = bits << 4 | UInt128(digit)
    }
    guard position == 36 else { return nil }
    self.bits = bits
  }
}

extension PushID: CustomStringConvertible {
  /// The canonical form in lower case, 8-4-4-4-12, that Apple requires.
  package var description: String {
    var characters: [UInt8] = []
    characters.reserveCapacity(36)
    characters.append(self)
    return String(decoding: characters, as: UTF8.self)
  }
}

/// An ID is stored in its canonical form.
extension PushID: StoredValue {
  package init(stored: JSONValue) throws(StoredFault) {
    guard let id = PushID(try String(stored: stored)) else {
      throw StoredFault(stored, isNot: "a UUID")
    }
    self = id
  }

  package func store(in json: inout [UInt8]) {
    json.append(UInt8(ascii: "\""))
    json.append(self)
    json.append(UInt8(ascii: "\""))
  }
}
