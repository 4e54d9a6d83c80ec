/// Whom a push is for.
package enum PushAddress: Hashable, Sendable, CustomStringConvertible {
  /// One phone, or one card on it.
  case device(DeviceToken)
  /// Everybody who watches a broadcast channel of an app.
  case channel(BroadcastChannel)

  /// The most bytes that APNs accepts in the body.
  package var payloadLimit: Int {
    switch self {
    case .device: PushRequest.payloadLimit
    case .channel: PushRequest.broadcastLimit
    }
  }

  /// The whole address, for the request and for comparing, and never for a log.
  package var text: String {
    switch self {
    case .device(let token): token.hex
    case .channel(let channel): channel.id.rawValue
    }
  }

  /// Safe to show.
  package var description: String {
    switch self {
    case .device(let token): "\(token)"
    case .channel(let channel): "channel \(channel.id)"
    }
  }
}

/// A broadcast channel at APNs, as an address.
package struct BroadcastChannel: Hashable, Sendable {
  /// `apns-channel-id`.
  package let id: ChannelID
  /// Whose it is; it stands in the request's path.
  package let bundleID: String

  /// Nil where the bundle ID holds what no bundle ID does.
  package init?(id: ChannelID, scope: ChannelScope) {
    guard scope.isPlain else { return nil }
    self.id = id
    bundleID = scope.bundleID
  }
}
