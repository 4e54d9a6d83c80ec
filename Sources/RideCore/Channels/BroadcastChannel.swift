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
