/// The ID that APNs gave a broadcast channel: base64, random, never given twice.
package struct ChannelID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The ID as APNs writes it.
  package let rawValue: String

  /// An ID of this text; nil where the text is no base64 and so can't have come from APNs.
  package init?(_ text: some StringProtocol) {
    // It goes into a header as it is, so nothing else may pass.
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

  /// By the bytes of their texts.
  package static func < (left: ChannelID, right: ChannelID) -> Bool {
    left.rawValue < right.rawValue
  }

  /// The ID itself: it is no secret.
  package var description: String { rawValue }
}

/// What APNs keeps of a channel's messages for phones that are away: its `message-storage-policy`.
package enum ChannelStorage: String, CaseIterable, Hashable, Sendable, Codable {
  /// Nothing: more may be published.
  case nothing = "none"

  /// The latest message, for up to eight hours.
  case latest

  /// The number by which Apple's JSON names it.
  package var policy: Int { self == .nothing ? 0 : 1 }

  /// The policy of Apple's number; nil for any other.
  package init?(policy: Int64) {
    switch policy {
    case 0: self = .nothing
    case 1: self = .latest
    default: return nil
    }
  }
}

extension ChannelID {
  /// How many channels Apple gives an app in each environment.
  package static let limitOfApp = 10_000
}
