/// A phone's address at FCM: a registration token, or a Firebase installation ID (FID).
///
/// Unlike a device token of APNs it is case-sensitive. Its `description` shows only the last six
/// characters, so it is safe in a log.
package struct FCMRegistration: Hashable, Sendable, CustomStringConvertible {
  /// The whole address as registered, to be used only in the message.
  package let text: String

  /// Nil if the text is empty, longer than 512 bytes, or not visible ASCII without spaces.
  package init?(_ text: String) {
    guard (1...512).contains(text.utf8.count) else { return nil }
    guard text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else { return nil }
    self.text = text
  }

  /// Whether it is an installation ID: 22 characters of base64url whose first four bits are 0111.
  package var isFID: Bool {
    let bytes = text.utf8
    guard bytes.count == 22, let first = bytes.first else { return false }
    return (UInt8(ascii: "c")...UInt8(ascii: "f")).contains(first)
      && bytes.allSatisfy(Self.isBase64URL)
  }

  /// Whether its form shows that it is of FCM: it is an installation ID, or one with what follows it
  /// in a registration token.
  package var isOfFCM: Bool { isFID || text.utf8.contains(UInt8(ascii: ":")) }

  private static func isBase64URL(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// The last six characters: enough to distinguish phones, too few to send a push.
  package var suffix: String { String(text.suffix(6)) }

  /// The last six characters after an ellipsis.
  package var description: String { "…" + suffix }
}
