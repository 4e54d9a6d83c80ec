/// The ID that APNs assigned to a broadcast channel: base64, random, never reused.
package struct ChannelID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The ID as APNs writes it.
  package let rawValue: String

  /// Nil if the text is not base64 and so cannot be from APNs.
  package init?(_ text: some StringProtocol) {
    // The ID is sent unchanged as a header, so no other characters are allowed.
    guard (1...128).contains(text.utf8.count), text.utf8.allSatisfy(Self.isBase64) else {
      return nil
    }
    rawValue = String(text)
  }

  private static func isBase64(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: [UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "=")].contains(byte)
    }
  }

  /// Compares the bytes of the texts.
  package static func < (left: ChannelID, right: ChannelID) -> Bool {
    left.rawValue < right.rawValue
  }

  /// The ID itself: it is not a secret.
  package var description: String { rawValue }
}

extension ChannelID {
  /// The maximum number of channels per app and environment.
  package static let limitOfApp = 10_000
}
