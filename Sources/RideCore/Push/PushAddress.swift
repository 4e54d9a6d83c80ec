/// Whom a push is for.
public enum PushAddress: Hashable, Sendable, CustomStringConvertible {
  /// One phone, or one card on it.
  case device(DeviceToken)
  /// Everybody who watches a broadcast channel of an app.
  case channel(BroadcastChannel)

  /// The most bytes that APNs accepts in the body.
  public var payloadLimit: Int {
    switch self {
    case .device: PushRequest.payloadLimit
    case .channel: 5120
    }
  }

  /// The whole address, for the request and for comparing, and never for a log.
  public var text: String {
    switch self {
    case .device(let token): token.hex
    case .channel(let channel): channel.id
    }
  }

  /// Safe to show.
  public var description: String {
    switch self {
    case .device(let token): "\(token)"
    case .channel(let channel): "channel \(channel.id)"
    }
  }
}

/// A broadcast channel at APNs.
public struct BroadcastChannel: Hashable, Sendable {
  /// `apns-channel-id`: base64, as APNs made it.
  public let id: String
  /// Whose it is; it stands in the request's path.
  public let bundleID: String

  /// Nil where the ID is no base64 or the bundle ID holds what no bundle ID does.
  public init?(id: String, bundleID: String) {
    func isBase64(_ byte: UInt8) -> Bool {
      isAlphanumeric(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/")
        || byte == UInt8(ascii: "=")
    }
    func isAlphanumeric(_ byte: UInt8) -> Bool {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
        || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }
    guard (1...255).contains(id.utf8.count), id.utf8.allSatisfy(isBase64),
      (1...255).contains(bundleID.utf8.count),
      bundleID.utf8.allSatisfy({
        isAlphanumeric($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-")
      })
    else { return nil }
    self.id = id
    self.bundleID = bundleID
  }
}
