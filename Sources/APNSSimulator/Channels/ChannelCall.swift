/// The app and the operation that a path of the channel and broadcast APIs names.
struct ChannelCall: Equatable, Sendable {
  enum Kind: String, CaseIterable, Sendable {
    case create, read, delete, list, broadcast
  }

  private enum Place {
    case channels, all, broadcasts
  }

  let bundleID: String
  /// Nil if the path does not support the request's method.
  let kind: Kind?

  /// Returns whether a path belongs to these APIs, well formed or not.
  static func owns(_ path: String) -> Bool {
    path.hasPrefix("/1/") || path.hasPrefix("/4/")
  }

  /// Returns nil for a path that is not in Apple's documentation.
  init?(_ request: PushRequest) {
    let parts = request.path.split(separator: "/", omittingEmptySubsequences: false).map(
      String.init)
    let place: Place
    switch parts.count {
    case 5 where parts[1...2] == ["1", "apps"] && parts[4] == "channels": place = .channels
    case 5 where parts[1...2] == ["1", "apps"] && parts[4] == "all-channels": place = .all
    case 5 where parts[1...3] == ["4", "broadcasts", "apps"]: place = .broadcasts
    default: return nil
    }
    bundleID = place == .broadcasts ? parts[4] : parts[3]
    if bundleID.isEmpty { return nil }
    kind =
      switch (place, request.method) {
      case (.channels, "POST"): .create
      case (.channels, "GET"): .read
      case (.channels, "DELETE"): .delete
      case (.all, "GET"): .list
      case (.broadcasts, "POST"): .broadcast
      default: nil
      }
  }
}

extension Push {
  /// The size limit of a broadcast's payload; among pushes to one device only VoIP allows as much.
  static let maximumBroadcastBytes = 5120

  var call: ChannelCall? { ChannelCall(request) }

  var channelID: String? { header("apns-channel-id") }
}
