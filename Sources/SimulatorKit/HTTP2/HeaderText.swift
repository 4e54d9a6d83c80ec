extension Header {
  /// The longest encoded text; clients limit what they accept of headers.
  package static let longestText = 1000

  /// A header with a text for people: one line of printable ASCII.
  ///
  /// All other bytes and `%` are percent-encoded. A longer text is cut, and ends in `...`.
  package init(name: String, text: String) {
    var value: [UInt8] = []
    var isCut = false
    for character in text {
      let encoded = Self.encoded(character)
      isCut = value.count + encoded.count > Self.longestText
      if isCut { break }
      value += encoded
    }
    self.init(name: name, value: String(decoding: value, as: UTF8.self) + (isCut ? "..." : ""))
  }

  private static func encoded(_ character: Character) -> [UInt8] {
    var bytes: [UInt8] = []
    for byte in character.utf8 {
      if (0x20...0x7E).contains(byte), byte != UInt8(ascii: "%") {
        bytes.append(byte)
      } else {
        bytes += [
          UInt8(ascii: "%"), [UInt8].hexDigits[Int(byte >> 4)], [UInt8].hexDigits[Int(byte & 15)],
        ]
      }
    }
    return bytes
  }
}
