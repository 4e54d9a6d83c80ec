/// The pushes of one app that leave through one environment of APNs, or through FCM.
package struct PushLane: Hashable, Sendable {
  package var network: PushNetwork
  package var app: App

  /// Whether it is that of a receiver of posts, which APNs has no part in.
  package var isOfPosts: Bool { app.rawValue.hasPrefix(PostAddress.lanePrefix) }

  package init(network: PushNetwork, app: App) {
    self.network = network
    self.app = app
  }
}
