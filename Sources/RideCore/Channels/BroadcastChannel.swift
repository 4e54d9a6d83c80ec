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

/// What APNs stores of a channel's messages for offline phones: its `message-storage-policy`.
package enum ChannelStorage: String, CaseIterable, Hashable, Sendable {
  /// Nothing, which allows a higher publishing rate.
  case nothing = "none"

  /// The latest message, for up to eight hours.
  case latest

  /// The longest time that APNs keeps a message.
  package static let longest: Duration = .seconds(8 * 3600)

  /// The number for it in Apple's JSON.
  package var policy: Int { self == .nothing ? 0 : 1 }

  /// Nil if Apple defines no policy with this number.
  package init?(policy: Int64) {
    switch policy {
    case 0: self = .nothing
    case 1: self = .latest
    default: return nil
    }
  }
}

extension ChannelID {
  /// The maximum number of channels per app and environment.
  package static let limitOfApp = 10_000
}

/// The channels of one app in one APNs environment.
package struct ChannelScope: Hashable, Sendable {
  /// The app's own bundle ID, without any suffix.
  package var bundleID: String

  package var environment: APNsEnvironment

  package init(bundleID: String, environment: APNsEnvironment) {
    self.bundleID = bundleID
    self.environment = environment
  }

  /// Whether the bundle ID is safe in a URL path: only letters, digits, `-` and `.`.
  package var isPlain: Bool {
    !bundleID.isEmpty
      && bundleID.utf8.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
          || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
      }
  }
}

extension ChannelScope: CustomStringConvertible {
  /// For example `com.example.customer (production)`.
  package var description: String { "\(bundleID) (\(environment.rawValue))" }
}

/// The address of a broadcast channel at APNs.
package struct BroadcastChannel: Hashable, Sendable {
  /// `apns-channel-id`.
  package let id: ChannelID
  /// The app's bundle ID, which is part of the request's path.
  package let bundleID: String

  /// Nil if the bundle ID contains characters that no bundle ID has.
  package init?(id: ChannelID, scope: ChannelScope) {
    guard scope.isPlain else { return nil }
    self.id = id
    bundleID = scope.bundleID
  }
}
